#include "wire/message.h"

#include <gtest/gtest.h>

#include "support/wire_streams.h"

using namespace tunesmith;
using namespace tunesmith::wire;

namespace {

std::string sequence(const std::vector<Event>& events) {
  Sequencer sequencer;
  std::vector<Event> out;
  for (const Event& event : events) {
    for (Event& one : sequencer.take(event)) out.push_back(std::move(one));
  }
  return test::transcript(out);
}

}  // namespace

TEST(SequencerTest, OpenPartsWaitForTheFirstToEnd) {
  EXPECT_EQ(sequence({PartStart{0, {Text{}}}, PartStart{1, {ToolCall{"a", "f"}}},
                      PartDelta{1, DeltaField::arguments, "x"}, PartDelta{0, DeltaField::text, "t"},
                      PartEnd{1}, PartEnd{0}, PartStart{2, {Text{}}}, PartEnd{2}, Finished{}}),
            "part 0 text()\ndelta 0 0 t\nend 0\npart 1 call(a f )\ndelta 1 1 x\nend 1\npart 2 text()\nend "
            "2\nfinished unknown\n");
}

TEST(SequencerTest, AnEndLeavesNothingBehind) {
  const std::vector<Event> begun = {PartStart{0, {Text{}}}, PartStart{1, {Text{}}}, PartStart{2, {Text{}}},
                                    PartDelta{2, DeltaField::text, "z"}};
  std::vector<Event> finished = begun;
  finished.push_back(Finished{});
  EXPECT_EQ(
      sequence(finished),
      "part 0 text()\nend 0\npart 1 text()\nend 1\npart 2 text()\ndelta 2 0 z\nend 2\nfinished unknown\n");
  // Nobody must take what was cut for whole.
  std::vector<Event> cut = begun;
  cut.push_back(Cut{"why"});
  EXPECT_EQ(sequence(cut), "part 0 text()\ncut: why\n");
}

TEST(SequencerTest, AnotherPartGoesOnLiveOnceTheFirstHasEnded) {
  Sequencer sequencer;
  (void)sequencer.take(PartStart{0, {Text{}}});
  (void)sequencer.take(PartStart{1, {Text{}}});
  EXPECT_EQ(sequencer.take(PartDelta{1, DeltaField::text, "a"}).size(), 0U);
  EXPECT_EQ(sequencer.take(PartEnd{0}).size(), 3U);
  EXPECT_EQ(sequencer.take(PartDelta{1, DeltaField::text, "b"}).size(), 1U);
}

TEST(CollectorTest, AReplyAsEventsIsTheReplyAgain) {
  Reply reply;
  reply.id = "i";
  reply.model = "m";
  reply.parts = {Part{Thinking{"hm", "S", false, FormatId::messages, ""}},
                 Part{Thinking{"", "R", true, FormatId::messages, ""}},
                 Part{Text{"hi"}},
                 Part{Refusal{"no"}},
                 Part{ToolCall{"a", "f", "ns", "{}"}},
                 Part{Foreign{FormatId::chat, "x", "{}"}}};
  reply.stop = StopReason::stop_sequence;
  reply.stop_text = "END";
  Collector collector;
  for (const Event& event : events_of(reply)) collector.take(event);
  EXPECT_EQ(describe(collector.reply().parts), describe(reply.parts));
  EXPECT_EQ(collector.reply().stop_text, "END");
  EXPECT_EQ(collector.reply().model, "m");
  EXPECT_FALSE(collector.cut());
  EXPECT_FALSE(collector.error());
}
