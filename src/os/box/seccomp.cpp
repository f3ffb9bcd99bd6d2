#include "os/box/seccomp.h"

#include <asm/ioctls.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <initializer_list>

namespace tunesmith::box {

namespace {

#if defined(__x86_64__)
constexpr unsigned k_arch = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr unsigned k_arch = AUDIT_ARCH_AARCH64;
#else
constexpr unsigned k_arch = 0;
#endif
constexpr unsigned k_x32_bit = 0x40000000;
// Newer than the distribution's headers; the numbers are the same on every architecture.
constexpr int k_fchmodat2 = 452, k_mount_setattr = 442, k_process_mrelease = 448, k_setxattrat = 463,
              k_open_tree_attr = 467;

constexpr unsigned k_allow = SECCOMP_RET_ALLOW;
constexpr unsigned k_refuse = SECCOMP_RET_ERRNO | EPERM;
constexpr unsigned k_unknown = SECCOMP_RET_ERRNO | ENOSYS;
constexpr unsigned k_new_namespace =
    CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET;

/// A program for the kernel's BPF machine. Every test ends in a return or falls through, so no jump ever
/// reaches further than the test itself.
class Filter {
 public:
  void add(unsigned short code, unsigned value, unsigned char yes = 0, unsigned char no = 0) {
    if (m_size < k_capacity) m_code[m_size] = sock_filter{code, yes, no, value};
    ++m_size;
  }
  void load(std::size_t offset) { add(BPF_LD | BPF_W | BPF_ABS, static_cast<unsigned>(offset)); }
  void load_number() { load(offsetof(seccomp_data, nr)); }
  void load_argument(int index, bool high = false) {
    load(offsetof(seccomp_data, args) + 8U * static_cast<unsigned>(index) + (high ? 4U : 0U));
  }
  void answer(unsigned action) { add(BPF_RET | BPF_K, action); }
  void when_number(int number, unsigned action) {
    add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(number), 0, 1);
    answer(action);
  }
  void when_number(std::initializer_list<int> numbers, unsigned action) {
    for (const int number : numbers) when_number(number, action);
  }
  [[nodiscard]] bool install() {
    if (m_size > k_capacity) return false;
    sock_fprog program{static_cast<unsigned short>(m_size), m_code};
    // SPEC_ALLOW: older kernels otherwise switch on mitigations that slow down the code being measured.
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, &program) == 0)
      return true;
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
  }

 private:
  static constexpr std::size_t k_capacity = 400;
  sock_filter m_code[k_capacity];
  std::size_t m_size = 0;
};

void refuse_always(Filter& filter) {
  filter.when_number(
      {SYS_socket, SYS_socketpair, SYS_bind, SYS_connect, SYS_listen, SYS_accept, SYS_accept4,
       // the file system tree
       SYS_mount, SYS_umount2, SYS_pivot_root, SYS_chroot, SYS_move_mount, SYS_open_tree, SYS_fsopen,
       SYS_fsconfig, SYS_fsmount, SYS_fspick, k_mount_setattr, k_open_tree_attr, SYS_swapon, SYS_swapoff,
       SYS_quotactl, SYS_acct, SYS_name_to_handle_at, SYS_open_by_handle_at, SYS_fanotify_init,
       // other processes
       SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_process_madvise, k_process_mrelease,
       SYS_kcmp, SYS_pidfd_getfd, SYS_unshare, SYS_setns, SYS_move_pages, SYS_migrate_pages,
       // large attack surfaces of the kernel
       SYS_bpf, SYS_perf_event_open, SYS_io_uring_setup, SYS_io_uring_enter, SYS_io_uring_register,
       SYS_userfaultfd, SYS_keyctl, SYS_add_key, SYS_request_key, SYS_lookup_dcookie, SYS_nfsservctl,
       // the machine
       SYS_init_module, SYS_finit_module, SYS_delete_module, SYS_kexec_load, SYS_kexec_file_load, SYS_reboot,
       SYS_settimeofday, SYS_clock_settime, SYS_adjtimex, SYS_clock_adjtime, SYS_sethostname,
       SYS_setdomainname, SYS_syslog, SYS_vhangup},
      k_refuse);
#if defined(__x86_64__)
  filter.when_number({SYS_iopl, SYS_ioperm, SYS_modify_ldt, SYS_uselib, SYS_ustat, SYS_sysfs, SYS__sysctl},
                     k_refuse);
#endif
#if defined(SYS_memfd_secret)
  filter.when_number(SYS_memfd_secret, k_refuse);
#endif
}

/// What a kernel under test has no use for, and a cheat has: escaping the measuring core, timers that
/// interrupt the clock, files of others (Landlock does not cover modes, owners and times).
void refuse_to_kernels(Filter& filter) {
  filter.when_number({SYS_sched_setaffinity,
                      SYS_sched_setscheduler,
                      SYS_sched_setparam,
                      SYS_sched_setattr,
                      SYS_setpriority,
                      SYS_ioprio_set,
                      SYS_timer_create,
                      SYS_setitimer,
                      SYS_timerfd_create,
                      SYS_personality,
                      SYS_memfd_create,
                      SYS_fchmod,
                      SYS_fchmodat,
                      k_fchmodat2,
                      SYS_fchown,
                      SYS_fchownat,
                      SYS_utimensat,
                      SYS_setxattr,
                      SYS_lsetxattr,
                      SYS_fsetxattr,
                      k_setxattrat,
                      SYS_removexattr,
                      SYS_lremovexattr,
                      SYS_fremovexattr,
                      SYS_execveat},
                     k_refuse);
#if defined(__x86_64__)
  filter.when_number({SYS_alarm, SYS_chmod, SYS_chown, SYS_lchown, SYS_utime, SYS_utimes, SYS_futimesat},
                     k_refuse);
#endif
}

void exec_only(Filter& filter, const char* path) {
  if (path == nullptr) {
    filter.when_number(SYS_execve, k_refuse);
    return;
  }
  const auto secret = reinterpret_cast<std::uintptr_t>(path);
  filter.add(BPF_JMP | BPF_JEQ | BPF_K, SYS_execve, 0, 6);
  filter.load_argument(0);
  filter.add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(secret), 0, 3);
  filter.load_argument(0, true);
  filter.add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(secret >> 32), 0, 1);
  filter.answer(k_allow);
  filter.answer(k_refuse);
}

void clone_flags(Filter& filter, const Policy& policy) {
  // clone3 hides its flags behind a pointer, which a filter cannot follow; libraries fall back to clone.
  filter.when_number(SYS_clone3, k_unknown);
#if defined(__x86_64__)
  if (!policy.allow_fork) filter.when_number({SYS_fork, SYS_vfork}, k_refuse);
#endif
  // The flags are the first argument on both architectures. Each line below is one instruction.
  const auto tests =
      static_cast<unsigned char>(3 + (policy.allow_fork ? 0 : 2) + (policy.allow_threads ? 0 : 2) + 1);
  filter.add(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, tests);
  filter.load_argument(0);
  filter.add(BPF_JMP | BPF_JSET | BPF_K, k_new_namespace, 0, 1);
  filter.answer(k_refuse);
  if (!policy.allow_fork) {
    filter.add(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 1, 0);
    filter.answer(k_refuse);
  }
  if (!policy.allow_threads) {
    filter.add(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 0, 1);
    filter.answer(k_refuse);
  }
  filter.answer(k_allow);
}

void terminal_calls(Filter& filter) {
  // Typing into the terminal of whoever started us.
  filter.add(BPF_JMP | BPF_JEQ | BPF_K, SYS_ioctl, 0, 5);
  filter.load_argument(1);
  filter.add(BPF_JMP | BPF_JEQ | BPF_K, TIOCSTI, 1, 0);
  filter.add(BPF_JMP | BPF_JEQ | BPF_K, TIOCLINUX, 0, 1);
  filter.answer(k_refuse);
  filter.answer(k_allow);
}

}  // namespace

bool has_seccomp() { return prctl(PR_GET_SECCOMP, 0, 0, 0, 0) >= 0; }

bool confine_calls(const Policy& policy, bool own_sessions, const char* exec_path) {
  if (k_arch == 0) return false;
  Filter filter;
  filter.load(offsetof(seccomp_data, arch));
  filter.add(BPF_JMP | BPF_JEQ | BPF_K, k_arch, 1, 0);
  filter.answer(SECCOMP_RET_KILL_PROCESS);
  filter.load_number();
#if defined(__x86_64__)
  filter.add(BPF_JMP | BPF_JGE | BPF_K, k_x32_bit, 0, 1);
  filter.answer(k_unknown);
#endif
  // Tests of arguments replace the loaded number, so each of them answers on every path of its own call.
  refuse_always(filter);
  if (!own_sessions) filter.when_number({SYS_setsid, SYS_setpgid}, k_refuse);
  if (!policy.allow_exec) {
    refuse_to_kernels(filter);
    exec_only(filter, exec_path);
  }
  clone_flags(filter, policy);
  terminal_calls(filter);
  filter.answer(k_allow);
  return filter.install();
}

}  // namespace tunesmith::box
