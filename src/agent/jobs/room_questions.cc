#include "agent/jobs/room_questions.h"

#include <utility>

namespace spotter::agent {

struct RoomQuestions::Question {
  Question(net::Loop& loop, std::function<void(std::string)> asked_for)
      : done(std::move(asked_for)), patience(loop) {}
  std::function<void(std::string)> done;
  net::Timer patience;
};

RoomQuestions::RoomQuestions(net::Loop& loop, Ns patience)
    : loop_(loop), patience_(patience), post_(loop.poster()) {}
RoomQuestions::~RoomQuestions() = default;

void RoomQuestions::ask(std::function<std::string()> look, std::function<void(std::string)> done) {
  const i64 number = next_++;
  const bool is_begun =
      threads_.run([this, number, look = std::move(look), post = post_, alive = std::weak_ptr(alive_)] {
        post([this, number, why_not = look(), alive] {
          if (!alive.expired()) answer(number, why_not);
        });
      });
  if (!is_begun) return done("too many wait for the disk");
  auto& question = asked_[number];
  question = std::make_unique<Question>(loop_, std::move(done));
  question->patience.set(patience_,
                         [this, number] { answer(number, "the disk took too long to say what is free"); });
}

void RoomQuestions::answer(i64 number, std::string why_not) {
  const auto question = asked_.extract(number);  // until this has returned
  if (!question.empty()) question.mapped()->done(std::move(why_not));
}

}  // namespace spotter::agent
