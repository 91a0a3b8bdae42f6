/* Training and prediction for programs in C, and for languages that call C. Link liblockstep (shared), or
   lockstep::engine (static). The C++ headers, such as <lockstep/run/trainer.h>, can do more.

   Functions that return int return 0, or 1 after a failure; lockstep_last_error() then has a sentence that
   says what was wrong. Nothing is thrown, and nothing is written anywhere but to the files that are named. A
   trainer is used by one thread at a time. Texts are UTF-8 and end with a zero. */
#ifndef LOCKSTEP_LOCKSTEP_H
#define LOCKSTEP_LOCKSTEP_H

#include <stddef.h>
#include <stdint.h>

#if defined(LOCKSTEP_EXPORTS) && defined(_WIN32)
#define LOCKSTEP_API __declspec(dllexport)
#elif defined(LOCKSTEP_EXPORTS)
#define LOCKSTEP_API __attribute__((visibility("default")))
#else
#define LOCKSTEP_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** A network, its examples, and the machine that trains it. */
typedef struct lockstep_trainer lockstep_trainer;

/** The library's version, such as "1.2.3". */
LOCKSTEP_API const char* lockstep_version(void);

/** Why the last call of this thread that failed did so; "" if none has. Valid until its next failure. */
LOCKSTEP_API const char* lockstep_last_error(void);

/** Creates a trainer. Returns NULL after a failure.
    @param lane      the machine and its kernels: "cpu:best", "gpu:best", "gpu:tiled@1"
    @param settings  JSON; all fields but the widths may be left out:
                     {"net": {"widths": [2, 32, 1], "activation": "tanh", "output_activation": "identity",
                              "loss": "mse", "init": "he"},
                      "settings": {"optimizer": "adam", "lr": 0.001, "batch": 128, "seed": 1, ...},
                      "threads": 0, "cache": ""}
                     "net" and "settings" have the fields of checkpoints (run/settings_json.h).
                     Unless it is named, the loss is cross-entropy for labels and mean squared
                     error for targets. "threads" are those of CPU lanes, at most; 0: one per core.
                     "cache" is a folder that remembers compiled shaders and which kernels of
                     gpu:best are fastest on this machine; "": none, and they are compared each
                     time, for seconds.
    @param examples  how many there are
    @param inputs    [examples][widths[0]] numbers
    @param targets   [examples][last width] numbers to come close to; NULL: the examples have labels
    @param labels    [examples] class numbers from 0; NULL: the examples have targets
    Examples are copied. */
LOCKSTEP_API lockstep_trainer* lockstep_create(const char* lane, const char* settings, size_t examples,
                                               const float* inputs, const float* targets,
                                               const uint32_t* labels);

/** Waits for a trainer's steps, and frees it. NULL is allowed. */
LOCKSTEP_API void lockstep_destroy(lockstep_trainer* trainer);

/** What trains: "AMD Ryzen 9 9950X", "NVIDIA GeForce RTX 4070". Valid as long as the trainer. */
LOCKSTEP_API const char* lockstep_device(const lockstep_trainer* trainer);

/** Trains `steps` more steps of a batch each, and waits for them. Fails where a loss is not a finite
    number; the weights are then as before that step, and training may go on.
    @param loss  takes the mean loss of the last step's batch; may be NULL; 0 steps leave it as it is */
LOCKSTEP_API int lockstep_train(lockstep_trainer* trainer, uint64_t steps, double* loss);

/** Trains as many steps as surely end within so many milliseconds, one at least: a share of a frame.
    @param steps  takes their number; may be NULL
    @param loss   as for lockstep_train() */
LOCKSTEP_API int lockstep_train_for(lockstep_trainer* trainer, double milliseconds, uint64_t* steps,
                                    double* loss);

/** Replaces examples [first, first + count), for batches of the host's own. The arguments are those of
    lockstep_create(); inputs, targets or labels that are NULL stay. */
LOCKSTEP_API int lockstep_set_examples(lockstep_trainer* trainer, size_t first, size_t count,
                                       const float* inputs, const float* targets, const uint32_t* labels);

/** Computes the network's outputs.
    @param rows     how many
    @param inputs   [rows][widths[0]] numbers
    @param outputs  [rows][last width] numbers, after the output activation; with cross-entropy, the
                    largest of a row belongs to the most likely class */
LOCKSTEP_API int lockstep_predict(lockstep_trainer* trainer, size_t rows, const float* inputs,
                                  float* outputs);

/** Writes a checkpoint: safetensors with PyTorch's names (run/checkpoint.h). A file that is there is replaced
    only by a whole one. */
LOCKSTEP_API int lockstep_save(lockstep_trainer* trainer, const char* file);

/** Reads the weights of a checkpoint, or of another program's safetensors file, for a network of the
    same widths. From a checkpoint of the same settings, training goes on where it was saved, to the bit
    on the same lane; otherwise it begins again with these weights. */
LOCKSTEP_API int lockstep_load(lockstep_trainer* trainer, const char* file);

#ifdef __cplusplus
}
#endif

#endif
