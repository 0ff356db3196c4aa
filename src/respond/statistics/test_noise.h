// The five kinds of noise of step times by which detectors are judged, around 1 s, with fixed seeds.
#pragma once
#include <algorithm>
#include <cmath>
#include <random>

#include "base/time.h"
#include "respond/steps/step_clock.h"

namespace spotter::respond::test {

enum class Noise : u8 {
  quiet,        // 2 %
  heavy,        // tails of Student's t with 3 degrees of freedom, 5 %
  correlated,   // AR(1), 0.8 of the step before, 8 %
  checkpoints,  // 2 %; every 500th step x 20, every 100th (evaluation) x 3, one of 300 at random x 2 to 10
  eighth,       // 2 %; every 8th step x 1.6
};
inline constexpr Noise kNoises[] = {Noise::quiet, Noise::heavy, Noise::correlated, Noise::checkpoints,
                                    Noise::eighth};

class NoisySteps {
 public:
  NoisySteps(Noise noise, u64 seed) : noise_(noise), random_(seed) {}

  // The next one, of a job whose steps take `factor` as long as they did.
  Step next(double factor = 1) {
    ++step_;
    const Ns took = static_cast<Ns>(std::max(0.01, factor * seconds()) * 1e9);
    end_ += took;
    return {.step = step_, .end = end_, .took = took, .run = 0};
  }

 private:
  double seconds() {
    const double z = gauss_(random_);
    switch (noise_) {
      case Noise::quiet:
        return 1 + 0.02 * z;
      case Noise::heavy: {
        double squares = 0;
        for (int i = 0; i < 3; ++i) squares += std::pow(gauss_(random_), 2);
        return 1 + 0.05 * z / std::sqrt(squares / 3);
      }
      case Noise::correlated:
        state_ = 0.8 * state_ + 0.6 * 0.08 * z;  // 0.6: what the others leave of the variance
        return 1 + state_;
      case Noise::checkpoints: {
        const double usual = 1 + 0.02 * z;
        if (step_ % 500 == 0) return 20 * usual;
        if (step_ % 100 == 0) return 3 * usual;
        if (random_() % 300 == 0) return usual * (2 + static_cast<double>(random_() % 9));
        return usual;
      }
      case Noise::eighth:
        return (1 + 0.02 * z) * (step_ % 8 == 0 ? 1.6 : 1);
    }
    return 1;
  }

  Noise noise_;
  std::mt19937_64 random_;
  std::normal_distribution<double> gauss_;
  i64 step_ = 0;
  Ns end_ = 0;
  double state_ = 0;
};

}  // namespace spotter::respond::test
