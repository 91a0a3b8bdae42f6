/* Trains from C: a network learns exclusive or, is saved, and is loaded by another trainer. `from_c gpu:best`
   trains on a GPU. */
#include <lockstep/lockstep.h>

#include <stdio.h>

static int failed(void) {
    fprintf(stderr, "%s\n", lockstep_last_error());
    return 1;
}

int main(int count, char** arguments) {
    const char* lane = count > 1 ? arguments[1] : "cpu:best";
    const char* settings = "{\"net\": {\"widths\": [2, 8, 2], \"activation\": \"tanh\"},"
                           " \"settings\": {\"lr\": 0.02, \"batch\": 4}}";
    const float inputs[] = {0, 0, 0, 1, 1, 0, 1, 1};
    const uint32_t labels[] = {0, 1, 1, 0};
    lockstep_trainer* trainer = lockstep_create(lane, settings, 4, inputs, NULL, labels);
    if (trainer == NULL) return failed();
    double loss = 0;
    if (lockstep_train(trainer, 500, &loss) != 0) return failed();
    printf("lockstep %s on %s: loss %.4f\n", lockstep_version(), lockstep_device(trainer), loss);
    if (lockstep_save(trainer, "xor.safetensors") != 0) return failed();
    lockstep_destroy(trainer);

    trainer = lockstep_create("cpu:best", settings, 4, inputs, NULL, labels);
    if (trainer == NULL || lockstep_load(trainer, "xor.safetensors") != 0) return failed();
    float outputs[8];
    if (lockstep_predict(trainer, 4, inputs, outputs) != 0) return failed();
    for (int i = 0; i < 4; ++i)
        printf("%.0f xor %.0f = %d\n", inputs[2 * i], inputs[2 * i + 1],
               outputs[2 * i + 1] > outputs[2 * i] ? 1 : 0);
    lockstep_destroy(trainer);
    return 0;
}
