#include "os/box/wire.h"

#include <gtest/gtest.h>

namespace tunesmith::box {
namespace {

Orders full_orders() {
  Orders orders;
  orders.parent = 77;
  orders.keep = {5, 6, 9};
  Policy& p = orders.policy;
  p.read_only = {"/usr", "", "a\nb:c 3:"};
  p.read_write = {"/tmp/x y"};
  p.allow_exec = p.allow_fork = p.allow_threads = false;
  p.cpu = 3;
  p.address_space_bytes = 1ULL << 40;
  p.cpu_seconds = 5;
  p.file_size_bytes = 6;
  p.processes = 7;
  p.open_files = 8;
  p.no_namespaces = p.no_landlock = p.no_seccomp = true;
  return orders;
}

TEST(WireTest, CarriesEveryFieldOfTheOrders) {
  const Orders sent = full_orders();
  Orders got;
  ASSERT_TRUE(decode(encode(sent), got));
  EXPECT_EQ(encode(got), encode(sent));
  EXPECT_EQ(got.policy.read_only, sent.policy.read_only);
  EXPECT_EQ(got.policy.address_space_bytes, 1ULL << 40);
  EXPECT_FALSE(got.policy.allow_exec);
  EXPECT_EQ(got.keep, sent.keep);
}

TEST(WireTest, RefusesTornOrders) {
  const std::string text = encode(full_orders());
  for (std::size_t length = 0; length < text.size(); ++length) {
    Orders got;
    EXPECT_FALSE(decode(text.substr(0, length), got)) << length;
  }
  Orders got;
  EXPECT_FALSE(decode(text + "x", got));
  EXPECT_FALSE(decode("unknown 1:1\nend 0:\n", got));
  EXPECT_FALSE(decode("cpu 1:x\nend 0:\n", got));
  EXPECT_FALSE(decode("cpu -1:\nend 0:\n", got));
  EXPECT_FALSE(decode("cpu 99999999999999999999:1\nend 0:\n", got));
}

TEST(WireTest, CarriesTheLayers) {
  Layers sent;
  sent.own_uid = sent.pid_namespace = sent.seccomp = true;
  sent.landlock_abi = 12;
  Account got;
  std::string line = layers_line(sent);
  line.pop_back();
  take_line(line, got);
  EXPECT_TRUE(got.ready);
  EXPECT_EQ(got.layers.text(), "uid+pidns+landlock12+seccomp");
  take_line("inner 4711", got);
  take_line("peak 99", got);
  take_line("error cannot do: it", got);
  take_line("nonsense", got);
  EXPECT_EQ(got.inner_pid, 4711);
  EXPECT_EQ(got.peak_rss_kib, 99U);
  EXPECT_EQ(got.error, "cannot do: it");
}

TEST(LayersTextTest, NamesWhatStands) {
  EXPECT_EQ(Layers{}.text(), "none");
  Layers all;
  all.own_uid = all.user_namespace = all.pid_namespace = all.net_namespace = all.ipc_namespace = true;
  all.seccomp = all.rlimits = true;
  all.landlock_abi = 7;
  EXPECT_EQ(all.text(), "uid+userns+pidns+netns+ipcns+landlock7+seccomp+rlimits");
}

}  // namespace
}  // namespace tunesmith::box
