// Forms: what a scanner has learned of the way this file writes its events.
//
// Kineto's text repeats: between two values that vary (a time, a name, a number) the same bytes come again,
// such as
//   , "pid": 425, "tid": 425,\n    "ts":
// Forms is a trie of such literals. A node is a place behind a varying value (or before an event) and carries
// everything that the path to it has said (phase, category, pid, tid, argument list: its Context). An edge is
// a literal that was seen at that place, what the plain parser made of it, and which kind of value follows.
// The fast scanner compares bytes and follows edges; where no edge fits, learn() parses plainly and adds one.
// Nothing is guessed: an edge is used only where the same bytes stand in the same state, so a result never
// depends on what was learned before.
//
// Values of few kinds (phase, category, pid, tid, device, stream) are part of the literal. A place where such
// values turn out to be many becomes `saturated`: from then on they are read as values there.
//
// One scanner owns one Forms; no locking.
#pragma once
#include <array>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/text/strings.h"
#include "read/block.h"
#include "trace/trace.h"

namespace spotter::read {

// What stands behind an edge's literal.
enum class Take : u8 {
  more,  // nothing: another literal follows
  end,   // the event is complete
  ts,
  dur,
  name,
  number,
  text,
  raw,  // an argument that is kept: a number or bare word, a string, a list or object
  skip_number,
  skip_text,
  skip_raw,  // a value that is not kept
  pid_number,
  pid_text,
  tid_number,
  tid_text,
};

// What a value may begin with. A literal that ends before a value says so, since the literal of another
// value's edge may be its prefix: `"bytes": ` of a number and `"bytes": "` of a string.
// kWord marks what a bare word may go on with.
enum Start : u8 { kDigit = 1, kQuote = 2, kBracket = 4, kWord = 8, kBrace = 16, kAny = 128 };
extern const std::array<u8, 256> kStarts;  // by character
inline u8 start_of(char c) { return kStarts[static_cast<u8>(c)]; }

// A pid or tid while its event is being read.
struct RowId {
  enum class Is : u8 { absent, number, text, varies };
  Is is = Is::absent;
  i64 number = 0;
  StringId text = 0;
};

struct Context {
  bool in_event = false, in_args = false;
  bool member_done = false;  // a member has ended: a comma or the closing bracket must come
  bool after_comma = false;
  bool bad_time = false;  // a start or duration that is no number, or a span without one
  u8 seen = 0;            // members of the event itself, a bit each
  char phase = 0;         // 0: absent
  bool has_cat = false, has_ts = false, has_dur = false;
  bool args_left_out = false, kind_left_out = false;  // more of them than there are ids for
  bool half_span = false;                             // a begin or an end alone (phase B or E)
  bool no_category = false;                           // a span that is not said to be one of anything
  StringId cat = 0, name = 0;  // name: only where it is part of a literal (marks and flows have few)
  RowId pid, tid;
  u32 path = 0;  // argument list so far: index into the paths
  u32 repairs = 0, duplicates = 0, not_finite = 0;
  bool remarkable() const {
    return (repairs | duplicates | not_finite) || args_left_out || kind_left_out || bad_time || half_span ||
           no_category;
  }
};

struct Node;

struct Edge {
  static constexpr u32 kMaxLiteral = 128, kMaxConstants = 6;
  alignas(32) char text[kMaxLiteral] = {};  // the literal, zero-padded
  u32 last_mask = 0;                        // bits of its last 32-byte word
  u32 length = 0;
  u8 words = 0;  // 32-byte words before the last
  Take take = Take::more;
  u8 starts = kAny;  // Start bits: what must come behind the literal
  u8 constants = 0;  // cells of arguments inside the literal
  u8 kind = 0;       // at the end of an event: its kind, shape and track (kNone: varies)
  u16 shape = 0;
  u32 track = kNone;
  StringId name = 0;  // of marks and flows; else 0
  u32 constant[kMaxConstants] = {};
  Node* next[4] = {};  // by type of a number: int32, int64, real, json; else [0]
  Edge* sibling = nullptr;
  Edge* follow = nullptr;                  // the root edge that last came after this event's end
  bool stored = true, remarkable = false;  // remarkable: using it is to be counted (Forms::tally)
  ArgId arg = 0;
  Context after;  // before the value is known
};

struct Node {
  Edge* first = nullptr;
  Edge* recent = nullptr;
  u16 edges = 0;
  bool saturated = false;
  Context context;
};

enum class Learned : u8 {
  edge,
  bad,         // this is no event
  incomplete,  // the text ended inside an event
  text_end,    // the text ended between two events
  array_end,   // ']' where an event could begin
};

class Forms {
 public:
  explicit Forms(const ArgSet& keep);
  Forms(const Forms&) = delete;
  Forms& operator=(const Forms&) = delete;

  Node* root() { return &nodes_.front(); }
  // Parses from p, a place of `node`, to the next varying value. `stop` is where reading ended if there is no
  // edge.
  Learned learn(Node* node, const char* p, const char* end, Edge** edge, const char** stop);
  // The place behind the edge's value. `type` for Take::number, text and raw.
  Node* next(Edge* edge, ArgType type);
  void drop_scratch();  // forget the edges that were not worth keeping; call between events

  u32 track_of(const RowId& pid, const RowId& tid);
  // Text that is a decimal number is that number.
  RowId row_id(std::string_view text);

  // Copies what was given out since the last call into the block.
  void hand_over(Block& block);
  void tally(const Edge& end, const char* at, Block& block) const;

  Strings strings;

 private:
  struct Reader;
  struct PathStep {
    u32 parent;
    Shape::Item item;
    u16 items;  // length of the list
    u32 cells;  // used by the list
    u32 shape = kNone;
  };
  struct TrackHash {
    size_t operator()(const Track& t) const;
  };
  struct TrackEqual {
    bool operator()(const Track& a, const Track& b) const;
  };

  u32 extend_path(u32 path, ArgId arg, ArgType type);
  u32 shape_of(u32 path);
  u8 kind_of(Context& context);
  const ArgSpelling* spelling(std::string_view key) const;
  ArgId other_arg(const std::string& key);
  void finish(Edge& edge);
  Edge* store(Node* node, const Edge& edge, const char* literal);

  ArgSet keep_;
  std::unordered_map<std::string_view, const ArgSpelling*> spellings_;
  std::deque<Node> nodes_, scratch_nodes_;
  std::deque<Edge> edges_, scratch_edges_;

  std::vector<PathStep> paths_;
  std::unordered_map<u64, u32> path_children_;  // (path, arg, type) -> path
  std::vector<Shape> shapes_;
  std::vector<Kind> kinds_;
  std::vector<Track> tracks_;
  std::unordered_map<Track, u32, TrackHash, TrackEqual> track_ids_;
  std::vector<std::string> others_;
  std::unordered_map<std::string, ArgId> other_ids_;
  size_t handed_strings_ = 1, handed_kinds_ = 0, handed_tracks_ = 0, handed_shapes_ = 0, handed_others_ = 0;
};

}  // namespace spotter::read
