// Recursive descent over Python's precedence: if-else, or, and, not, comparisons, | ^ & shifts, + -, * / //
// %, unary, **. Kinds are checked on the way up.
#include <fmt/format.h>

#include <array>

#include "base/text.h"
#include "space/tree.h"

namespace tunesmith::space {

namespace {

// Deep enough for any formula that a person writes, shallow enough for every thread's stack.
constexpr std::uint32_t k_depth_limit = 200;

struct Function {
  std::string_view name;
  Op op;
  std::size_t least, most;
};
constexpr std::size_t k_many = 1000;
constexpr std::array k_functions = {
    Function{"min", Op::min, 1, k_many}, Function{"max", Op::max, 1, k_many},
    Function{"abs", Op::abs, 1, 1},      Function{"ceil", Op::ceil, 1, 1},
    Function{"floor", Op::floor, 1, 1},  Function{"round", Op::round, 1, 2},
    Function{"int", Op::to_int, 1, 1},   Function{"float", Op::to_float, 1, 1},
    Function{"bool", Op::to_bool, 1, 1}, Function{"log2", Op::log2, 1, 1},
    Function{"len", Op::len, 1, 1},
};

struct Infix {
  std::string_view symbol;
  Op op;
  int level;
};
constexpr int k_levels = 6;  // | ^ & shift sum product
constexpr std::array k_infix = {
    Infix{"|", Op::bit_or, 0},        Infix{"^", Op::bit_xor, 1},      Infix{"&", Op::bit_and, 2},
    Infix{"<<", Op::shift_left, 3},   Infix{">>", Op::shift_right, 3}, Infix{"+", Op::add, 4},
    Infix{"-", Op::subtract, 4},      Infix{"*", Op::multiply, 5},     Infix{"/", Op::divide, 5},
    Infix{"//", Op::floor_divide, 5}, Infix{"%", Op::modulo, 5},
};

std::string kinds_text(KindMask kinds) {
  std::vector<std::string> parts;
  constexpr std::array<const char*, 5> names = {"a boolean", "an integer", "a real", "a string", "a list"};
  for (unsigned bit = 0; bit < names.size(); ++bit)
    if ((kinds >> bit) & 1U) parts.emplace_back(names[bit]);
  return join(parts, " or ");
}

using Index = std::uint32_t;

// Inside the parser a fault unwinds as an exception that never leaves parse_tree.
class Parser {
 public:
  Parser(std::span<const Name> names, std::vector<Token> tokens)
      : m_names(names), m_tokens(std::move(tokens)) {}

  Tree run() {
    if (now().kind == TokenKind::end) stop(now(), "the expression is empty");
    const Index root = ternary();
    if (now().kind != TokenKind::end) unexpected();
    if (kinds(root) == k_list) stop_at(root, "a list is not a value", "compare with it: x in [1, 2]");
    return std::move(m_tree);
  }

 private:
  [[noreturn]] static void stop(const Token& token, std::string message, std::string mend = {}) {
    throw SyntaxFault{std::move(message), std::move(mend), token.offset};
  }
  [[noreturn]] void stop_at(Index node, std::string message, std::string mend = {}) const {
    throw SyntaxFault{std::move(message), std::move(mend), m_tree.nodes[node].offset};
  }
  [[noreturn]] void unexpected() const {
    const Token& token = now();
    if (token.kind == TokenKind::end) stop(token, "the expression ends too early");
    if (token.is("not")) stop(token, "unexpected 'not'", "put it and its operand in parentheses");
    const std::string shown = token.kind == TokenKind::whole  ? fmt::format("{}", token.whole)
                              : token.kind == TokenKind::real ? number_text(token.real)
                                                              : printable(token.text);
    stop(token, fmt::format("unexpected '{}'", shown),
         token.kind == TokenKind::symbol ? "" : "an operator seems to be missing before it");
  }

  [[nodiscard]] const Token& now() const { return m_tokens[m_at]; }
  [[nodiscard]] const Token& ahead() const { return m_tokens[std::min(m_at + 1, m_tokens.size() - 1)]; }
  bool accept(std::string_view symbol) {
    if (!now().is(symbol)) return false;
    ++m_at;
    return true;
  }
  void expect(std::string_view symbol) {
    if (accept(symbol)) return;
    if (now().kind == TokenKind::end)
      stop(now(), fmt::format("the expression ends where '{}' is expected", symbol));
    unexpected();
  }
  [[nodiscard]] KindMask kinds(Index node) const { return m_tree.nodes[node].kinds; }

  /// A parser that recurses without consuming levels of its own would overflow the stack first.
  struct Nesting {
    explicit Nesting(Parser& p) : parser(p) {
      if (++parser.m_nesting > k_depth_limit)
        stop(parser.now(), "the expression is nested too deeply",
             fmt::format("at most {} levels", k_depth_limit));
    }
    ~Nesting() { --parser.m_nesting; }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;
    Parser& parser;
  };

  Index add(Op op, KindMask result, std::size_t offset, const std::vector<Index>& children) {
    TreeNode node;
    node.op = op;
    node.kinds = result;
    node.offset = static_cast<Index>(offset);
    node.first = static_cast<Index>(m_tree.children.size());
    node.count = static_cast<Index>(children.size());
    for (const Index child : children) {
      m_tree.children.push_back(child);
      node.depth = std::max(node.depth, m_tree.nodes[child].depth + 1);
    }
    if (node.depth > k_chain_limit)
      throw SyntaxFault{"the expression is too long", "split it into several constraints", offset};
    m_tree.nodes.push_back(node);
    return m_tree.root();
  }

  Index constant(const Token& token, Cell value) {
    const Index node = add(Op::constant, 1U << static_cast<unsigned>(value.kind), token.offset, {});
    m_tree.nodes[node].constant = value;
    return node;
  }

  void need(Index node, KindMask wanted, std::string_view what) const {
    if ((kinds(node) & wanted) != 0) return;
    stop_at(node,
            fmt::format("{} needs {}, this is {}", what,
                        wanted == k_number                                          ? "a number"
                        : wanted == k_whole                                         ? "an integer"
                        : (wanted & k_number) == k_number && (wanted & k_list) == 0 ? "a single value"
                                                                                    : kinds_text(wanted),
                        kinds_text(kinds(node))));
  }
  void need_single(Index node, std::string_view what) const { need(node, k_number | k_string, what); }

  /// Integer unless one side may be real.
  [[nodiscard]] KindMask arithmetic(Index a, Index b) const {
    KindMask result = 0;
    if ((kinds(a) & k_whole) != 0 && (kinds(b) & k_whole) != 0) result |= k_integer;
    if (((kinds(a) | kinds(b)) & k_real) != 0) result |= k_real;
    return result;
  }

  Index ternary() {
    const Nesting nesting(*this);
    const Index value = disjunction();
    if (!now().is("if")) return value;
    const std::size_t offset = now().offset;
    ++m_at;
    const Index condition = disjunction();
    expect("else");
    const Index other = ternary();
    for (const Index part : {condition, value, other}) need_single(part, "if-else");
    return add(Op::choose, kinds(value) | kinds(other), offset, {condition, value, other});
  }

  Index disjunction() {
    Index left = conjunction();
    while (now().is("or") || now().is("||"))
      left = logical(left, &Parser::conjunction, Op::either, Op::either_c);
    return left;
  }

  Index conjunction() {
    Index left = negation();
    while (now().is("and") || now().is("&&")) left = logical(left, &Parser::negation, Op::both, Op::both_c);
    return left;
  }

  Index logical(Index left, Index (Parser::*operand)(), Op python, Op c) {
    const Token token = now();
    ++m_at;
    const Index right = (this->*operand)();
    const bool c_form = token.text == "&&" || token.text == "||";
    need_single(left, fmt::format("'{}'", token.text));
    need_single(right, fmt::format("'{}'", token.text));
    return add(c_form ? c : python, c_form ? k_boolean : kinds(left) | kinds(right), token.offset,
               {left, right});
  }

  Index negation() {
    if (!now().is("not")) return comparison();
    const Nesting nesting(*this);
    const std::size_t offset = now().offset;
    ++m_at;
    const Index operand = negation();
    need_single(operand, "'not'");
    return add(Op::logical_not, k_boolean, offset, {operand});
  }

  bool relation(Relation& out) {
    if (now().is("not") && ahead().is("in")) {
      m_at += 2;
      out = Relation::not_in;
      return true;
    }
    constexpr std::array<std::pair<std::string_view, Relation>, 7> known = {{{"==", Relation::equal},
                                                                             {"!=", Relation::unequal},
                                                                             {"<", Relation::less},
                                                                             {"<=", Relation::at_most},
                                                                             {">", Relation::greater},
                                                                             {">=", Relation::at_least},
                                                                             {"in", Relation::in}}};
    for (const auto& [symbol, meaning] : known) {
      if (!accept(symbol)) continue;
      out = meaning;
      return true;
    }
    return false;
  }

  Index comparison() {
    std::vector<Index> operands = {infix(0)};
    std::vector<Relation> relations;
    const std::size_t offset = now().offset;
    Relation next{};
    while (true) {
      const Token token = now();
      if (!relation(next)) break;
      relations.push_back(next);
      operands.push_back(infix(0));
      check_relation(token, next, operands[operands.size() - 2], operands.back());
    }
    if (relations.empty()) return operands[0];
    const Index node = add(Op::compare, k_boolean, offset, operands);
    m_tree.nodes[node].relations = static_cast<Index>(m_tree.relations.size());
    m_tree.relations.insert(m_tree.relations.end(), relations.begin(), relations.end());
    return node;
  }

  void check_relation(const Token& token, Relation relation, Index a, Index b) const {
    if (relation == Relation::in || relation == Relation::not_in) {
      need_single(a, "'in'");
      need(b, k_list | k_string, "the right side of 'in'");
      if (kinds(b) == k_string) need(a, k_string, "'in' a string");
      return;
    }
    need_single(a, "a comparison");
    need_single(b, "a comparison");
    if (relation == Relation::equal || relation == Relation::unequal) return;
    const bool numbers = (kinds(a) & k_number) != 0 && (kinds(b) & k_number) != 0;
    const bool strings = (kinds(a) & k_string) != 0 && (kinds(b) & k_string) != 0;
    if (!numbers && !strings)
      stop(token, fmt::format("'{}' cannot order {} and {}", token.text, kinds_text(kinds(a)),
                              kinds_text(kinds(b))));
  }

  Index infix(int level) {
    if (level == k_levels) return unary();
    Index left = infix(level + 1);
    while (true) {
      const Infix* found = nullptr;
      for (const Infix& candidate : k_infix)
        if (candidate.level == level && now().is(candidate.symbol)) found = &candidate;
      if (found == nullptr) return left;
      const std::size_t offset = now().offset;
      ++m_at;
      const Index right = infix(level + 1);
      const std::string what = fmt::format("'{}'", found->symbol);
      const bool bits = level < 4;
      need(left, bits ? k_whole : k_number, what);
      need(right, bits ? k_whole : k_number, what);
      KindMask result = found->op == Op::divide ? k_real : arithmetic(left, right);
      // Python: True & False is a boolean, True << 1 is not.
      if (bits) result = level < 3 ? ((kinds(left) | kinds(right)) & k_whole) : k_integer;
      left = add(found->op, result, offset, {left, right});
    }
  }

  Index unary() {
    const Token token = now();
    if (!token.is("-") && !token.is("+") && !token.is("~") && !token.is("!")) return power();
    const Nesting nesting(*this);
    ++m_at;
    const Index operand = unary();
    const std::string what = fmt::format("'{}'", token.text);
    if (token.text == "!") {
      need_single(operand, what);
      return add(Op::logical_not, k_boolean, token.offset, {operand});
    }
    need(operand, token.text == "~" ? k_whole : k_number, what);
    if (token.text == "~") return add(Op::invert, k_integer, token.offset, {operand});
    KindMask result = kinds(operand) & k_real;
    if ((kinds(operand) & k_whole) != 0) result |= k_integer;
    return add(token.text == "-" ? Op::negate : Op::plus, result, token.offset, {operand});
  }

  Index power() {
    const Index base = atom();
    if (!now().is("**")) return base;
    const std::size_t offset = now().offset;
    ++m_at;
    const Nesting nesting(*this);
    const Index exponent = unary();  // binds to the right: 2 ** 3 ** 2 == 512, 2 ** -1 == 0.5
    need(base, k_number, "'**'");
    need(exponent, k_number, "'**'");
    return add(Op::power, arithmetic(base, exponent) | k_real, offset, {base, exponent});
  }

  Index atom() {
    const Token token = now();
    switch (token.kind) {
      case TokenKind::whole:
        ++m_at;
        return constant(token, cell(token.whole));
      case TokenKind::real:
        ++m_at;
        return constant(token, cell(token.real));
      case TokenKind::string: {
        ++m_at;
        const Index node = constant(token, cell(std::string_view()));
        m_tree.nodes[node].slot = static_cast<Index>(m_tree.strings.size());
        m_tree.strings.push_back(token.text);
        return node;
      }
      case TokenKind::name:
        return name();
      case TokenKind::end:
        unexpected();
      case TokenKind::symbol:
        break;
    }
    if (token.is("(")) return parenthesis();
    if (token.is("[")) {
      ++m_at;
      return list(token, {}, "]");
    }
    unexpected();
  }

  Index parenthesis() {
    const Token open = now();
    ++m_at;
    if (now().is(")")) return list(open, {}, ")");
    const Index inner = ternary();
    if (accept(")")) return inner;
    if (!accept(",")) expect(")");
    return list(open, {inner}, ")");
  }

  Index list(const Token& open, std::vector<Index> items, std::string_view close) {
    while (!accept(close)) {
      items.push_back(ternary());
      if (!now().is(close)) expect(",");
    }
    for (const Index item : items) need_single(item, "a list");
    return add(Op::list, k_list, open.offset, items);
  }

  Index name() {
    Token token = now();
    ++m_at;
    if (token.text == "math" && now().is(".") &&
        ahead().kind == TokenKind::name) {  // math.ceil(x) is ceil(x)
      ++m_at;
      token = now();
      ++m_at;
      if (!now().is("(")) unexpected();
    }
    if (now().is("(")) return call(token);
    for (std::size_t slot = 0; slot < m_names.size(); ++slot) {
      if (m_names[slot].name != token.text) continue;
      const ValueKind kind = m_names[slot].kind;
      // A list of reals may hold whole numbers too.
      const KindMask mask = kind == ValueKind::real ? k_real | k_integer : 1U << static_cast<unsigned>(kind);
      const Index node = add(Op::name, mask, token.offset, {});
      m_tree.nodes[node].slot = static_cast<Index>(slot);
      return node;
    }
    if (token.text == "True" || token.text == "true") return constant(token, cell(true));
    if (token.text == "False" || token.text == "false") return constant(token, cell(false));
    unknown(token);
  }

  [[noreturn]] void unknown(const Token& token) const {
    std::vector<std::string> known;
    for (const Name& name : m_names) known.push_back(name.name);
    std::string suggestion = nearest(token.text, known);
    std::string mend;
    if (!suggestion.empty())
      mend = fmt::format("did you mean '{}'?", suggestion);
    else if (known.empty())
      mend = "no names are known here, only numbers";
    else
      mend = fmt::format("known names: {}", cut(join(known, ", "), 300));
    stop(token, fmt::format("unknown name '{}'", token.text), std::move(mend));
  }

  Index call(const Token& token) {
    const Function* function = nullptr;
    for (const Function& candidate : k_functions)
      if (candidate.name == token.text) function = &candidate;
    if (function == nullptr) {
      std::vector<std::string> known;
      for (const Function& candidate : k_functions) known.emplace_back(candidate.name);
      const std::string suggestion = nearest(token.text, known);
      stop(token, fmt::format("unknown function '{}'", token.text),
           suggestion.empty() ? "known functions: " + join(known, ", ")
                              : fmt::format("did you mean '{}'?", suggestion));
    }
    expect("(");
    std::vector<Index> arguments;
    while (!accept(")")) {
      arguments.push_back(ternary());
      if (!now().is(")")) expect(",");
    }
    if (arguments.size() < function->least || arguments.size() > function->most)
      stop(token,
           fmt::format("{}() takes {}, got {}", function->name,
                       function->most == k_many            ? "at least 1 argument"
                       : function->most == function->least ? fmt::format("{} argument", function->least)
                                                           : "1 or 2 arguments",
                       arguments.size()));
    return add(function->op, call_kinds(token, *function, arguments), token.offset, arguments);
  }

  KindMask call_kinds(const Token& token, const Function& function,
                      const std::vector<Index>& arguments) const {
    const std::string what = fmt::format("{}()", function.name);
    switch (function.op) {
      case Op::min:
      case Op::max:
        return extremum_kinds(token, what, arguments);
      case Op::len:
        need(arguments[0], k_list | k_string, what);
        return k_integer;
      case Op::to_bool:
        need_single(arguments[0], what);
        return k_boolean;
      case Op::ceil:
      case Op::floor:
      case Op::to_int:
        need(arguments[0], k_number, what);
        return k_integer;
      case Op::to_float:
      case Op::log2:
        need(arguments[0], k_number, what);
        return k_real;
      default:
        break;
    }
    for (const Index argument : arguments) need(argument, k_number, what);
    if (function.op == Op::round && arguments.size() == 1) return k_integer;
    if (function.op == Op::round) need(arguments[1], k_whole, "the second argument of round()");
    return (kinds(arguments[0]) & k_real) | ((kinds(arguments[0]) & k_whole) != 0 ? k_integer : 0U);
  }

  KindMask extremum_kinds(const Token& token, const std::string& what, std::vector<Index> items) const {
    if (items.size() == 1) {
      need(items[0], k_list, what + " of one argument");
      const TreeNode& list = m_tree.nodes[items[0]];
      if (list.count == 0) stop(token, what + " of an empty list");
      items.assign(m_tree.children.begin() + list.first, m_tree.children.begin() + list.first + list.count);
    }
    KindMask all = 0;
    bool numbers = true;
    bool strings = true;
    for (const Index item : items) {
      need_single(item, what);
      all |= kinds(item);
      numbers = numbers && (kinds(item) & k_number) != 0;
      strings = strings && (kinds(item) & k_string) != 0;
    }
    if (!numbers && !strings) stop(token, what + " cannot order strings and numbers");
    return all;
  }

  // Chains such as a + b + c … grow by depth without nesting the parser.
  static constexpr std::uint32_t k_chain_limit = 2000;
  std::span<const Name> m_names;
  std::vector<Token> m_tokens;
  std::size_t m_at = 0;
  std::uint32_t m_nesting = 0;
  Tree m_tree;
};

}  // namespace

tl::expected<Tree, SyntaxFault> parse_tree(std::string_view text, std::span<const Name> names) {
  auto tokens = tokenize(text);
  if (!tokens) return tl::unexpected<SyntaxFault>(std::move(tokens.error()));
  try {
    return Parser(names, std::move(*tokens)).run();
  } catch (SyntaxFault& fault) {
    return tl::unexpected<SyntaxFault>(std::move(fault));
  }
}

}  // namespace tunesmith::space
