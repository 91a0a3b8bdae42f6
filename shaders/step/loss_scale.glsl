// Loss scaling of half precision (Micikevicius et al. 2018, "Mixed precision training"): halves below 2^-24 are 0, and most
// gradients of sums are small. So all of them are `lossScale` times as large as they should be, and the optimizer divides. Where
// one of them overflows, nothing is learned from that step, and the next is scaled by half as much (loss_scale.comp). Step
// numbers go on all the same, those of Adam's bias corrections, too. The including shader defines LOSS_SCALE, the binding.
// Scales are powers of two: nothing is rounded because of them.
layout(set = 0, binding = LOSS_SCALE) buffer LossScale {
    float lossScale;   // of the next loss
    float unscale;     // of the gradients at hand: 1 / the scale they were computed with
    uint overflowed;   // 1: they are not finite, the optimizer does nothing
    uint goodSteps;    // since the scale last changed
    uint skippedSteps; // so far
};
