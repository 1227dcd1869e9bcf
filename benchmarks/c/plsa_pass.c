/* One PLSA pass, as fast as this machine allows: the practical ceiling that the library is measured against.
 *
 * With u_i (document side) and v_j (word side) as K-vectors and r(i,j) = n(i,j) / (u_i . v_j):
 *     document sums  u_i * sum_j r v_j        word sums  v_j * sum_i r u_i
 * A pass takes parameters to parameters. Two normalisers are folded away rather than swept over: a factor common to
 * u_i cancels in r, and the word totals of a component (inverse_total) multiply u_i when its row is read.
 *
 * K is a run-time number; arrays hold `blocks` vectors of 16 floats a row, padded with zeros and aligned to 64 bytes.
 * Common sizes are compiled with a constant number of blocks and chosen at run time, others take the general loop.
 */
#include <omp.h>
#include <stdint.h>
#include <string.h>

typedef float vec __attribute__((vector_size(64)));
typedef int32_t ivec __attribute__((vector_size(64)));
typedef vec unaligned_vec __attribute__((aligned(4)));

enum { LANES = 16, AHEAD = 16, MAX_BLOCKS = 64 };

typedef struct {
    const int32_t *row_start, *row_word;            /* CSR */
    const float *row_count;
    const int32_t *word_start, *word_doc, *word_slot; /* columns: document, and place of the non-zero in the CSR */
    const int32_t *row_cut, *word_cut;              /* thread t owns rows row_cut[t] .. row_cut[t + 1] */
    float *ratio;                                   /* r(i,j), one per non-zero (two-pass form) */
    vec *doc, *doc_next;                            /* u_i, and the document sums that this pass makes */
    vec *word;                                      /* v_j, replaced by the word sums */
    vec *partial;                                   /* private word sums, one set a thread (fused form) */
    vec *inverse_total;                             /* 1 / sum_j v_j, replaced */
    int32_t n_words, blocks, n_threads;
} Pass;

static inline float horizontal_sum(vec x) {
    float s = 0;
    for (int l = 0; l < LANES; l++) s += x[l];
    return s;
}

/* x where the test is positive, else zero (words and documents without counts). */
static inline vec where_positive(vec test, vec x) {
    return (vec)((ivec)x & (test > 0));
}

/* Neighbouring lanes of a, then of b, added: four levels of this turn sixteen vectors into their sixteen sums. */
static inline vec pairwise(vec a, vec b) {
    const ivec even = {0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30};
    const ivec odd = {1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31};
    return __builtin_shuffle(a, b, even) + __builtin_shuffle(a, b, odd);
}

static inline __attribute__((always_inline)) void prefetch(const vec *row, int blocks) {
    for (int b = 0; b < blocks; b++) __builtin_prefetch(row + b, 0, 3);
}

static inline __attribute__((always_inline)) vec partial_dot(const vec *u, const vec *v, int blocks) {
    vec s = u[0] * v[0];
    for (int b = 1; b < blocks; b++) s += u[b] * v[b];
    return s;
}

/* r for one row, sixteen non-zeros at a time; then sum_j r v_j while the v_j are still in the first cache. */
static inline __attribute__((always_inline)) void ratios_of_row(
    const Pass *p, int64_t begin, int64_t end, const vec *u, vec *sums, float *ratio, int blocks) {
    const int32_t *word = p->row_word;
    int64_t last = p->row_start[p->row_cut[p->n_threads]] - 1;
    int64_t t = begin;
    for (; t + LANES <= end; t += LANES) {
        vec level[4];
        for (int q = 0; q < 4; q++) {
            vec part[4];
            for (int i = 0; i < 4; i++) {
                int64_t at = t + 4 * q + i;
                int64_t soon = at + AHEAD < last ? at + AHEAD : last;
                prefetch(p->word + (int64_t)word[soon] * blocks, blocks);
                part[i] = partial_dot(u, p->word + (int64_t)word[at] * blocks, blocks);
            }
            level[q] = pairwise(pairwise(part[0], part[1]), pairwise(part[2], part[3]));
        }
        vec dot = pairwise(pairwise(level[0], level[1]), pairwise(level[2], level[3]));
        vec count = *(const unaligned_vec *)(p->row_count + t);
        vec r = where_positive(dot, count / dot);
        *(unaligned_vec *)(ratio + t - begin) = r;
        for (int i = 0; i < LANES; i++) {
            const vec *v = p->word + (int64_t)word[t + i] * blocks;
            float ri = ratio[t - begin + i];
            for (int b = 0; b < blocks; b++) sums[b] += ri * v[b];
        }
    }
    for (; t < end; t++) {
        const vec *v = p->word + (int64_t)word[t] * blocks;
        float dot = horizontal_sum(partial_dot(u, v, blocks));
        float r = dot > 0 ? p->row_count[t] / dot : 0;
        ratio[t - begin] = r;
        for (int b = 0; b < blocks; b++) sums[b] += r * v[b];
    }
}

/* Document sums of the rows of one thread; u_i is left scaled by the inverse totals, as the column sweep needs it. */
static inline __attribute__((always_inline)) void sweep_rows(const Pass *p, int thread, int blocks) {
    for (int64_t d = p->row_cut[thread]; d < p->row_cut[thread + 1]; d++) {
        vec u[blocks], sums[blocks];
        for (int b = 0; b < blocks; b++) {
            u[b] = p->doc[d * blocks + b] * p->inverse_total[b];
            sums[b] = (vec){0};
        }
        int64_t begin = p->row_start[d], end = p->row_start[d + 1];
        ratios_of_row(p, begin, end, u, sums, p->ratio + begin, blocks);
        for (int b = 0; b < blocks; b++) {
            p->doc[d * blocks + b] = u[b];
            p->doc_next[d * blocks + b] = u[b] * sums[b];
        }
    }
}

static inline __attribute__((always_inline)) void sweep_words(const Pass *p, int thread, vec *total, int blocks) {
    int64_t last = p->word_start[p->n_words] - 1;
    vec all[blocks];
    for (int b = 0; b < blocks; b++) all[b] = (vec){0};
    for (int64_t w = p->word_cut[thread]; w < p->word_cut[thread + 1]; w++) {
        vec sums[blocks];
        for (int b = 0; b < blocks; b++) sums[b] = (vec){0};
        for (int64_t t = p->word_start[w]; t < p->word_start[w + 1]; t++) {
            int64_t soon = t + AHEAD < last ? t + AHEAD : last;
            int64_t later = t + 2 * AHEAD < last ? t + 2 * AHEAD : last;
            prefetch(p->doc + (int64_t)p->word_doc[soon] * blocks, blocks);
            __builtin_prefetch(p->ratio + p->word_slot[later], 0, 3);
            const vec *u = p->doc + (int64_t)p->word_doc[t] * blocks;
            float r = p->ratio[p->word_slot[t]];
            for (int b = 0; b < blocks; b++) sums[b] += r * u[b];
        }
        for (int b = 0; b < blocks; b++) {
            vec v = p->word[w * blocks + b] * sums[b];
            p->word[w * blocks + b] = v;
            all[b] += v;
        }
    }
    for (int b = 0; b < blocks; b++) total[b] = all[b];
}

/* Fused form: the row sweep also scatters r u_i into this thread's private word sums. */
static inline __attribute__((always_inline)) void sweep_fused(const Pass *p, int thread, int blocks) {
    vec *mine = p->partial + (int64_t)thread * p->n_words * blocks;
    memset(mine, 0, sizeof(vec) * (size_t)p->n_words * blocks);
    for (int64_t d = p->row_cut[thread]; d < p->row_cut[thread + 1]; d++) {
        vec u[blocks], sums[blocks];
        for (int b = 0; b < blocks; b++) {
            u[b] = p->doc[d * blocks + b] * p->inverse_total[b];
            sums[b] = (vec){0};
        }
        int64_t begin = p->row_start[d], end = p->row_start[d + 1];
        float *ratio = p->ratio + begin;
        ratios_of_row(p, begin, end, u, sums, ratio, blocks);
        for (int64_t t = begin; t < end; t++) {
            int64_t soon = t + AHEAD < end ? t + AHEAD : end - 1;
            prefetch(mine + (int64_t)p->row_word[soon] * blocks, blocks);
            vec *target = mine + (int64_t)p->row_word[t] * blocks;
            for (int b = 0; b < blocks; b++) target[b] += ratio[t - begin] * u[b];
        }
        for (int b = 0; b < blocks; b++) p->doc_next[d * blocks + b] = u[b] * sums[b];
    }
}

static inline __attribute__((always_inline)) void merge_words(const Pass *p, int thread, vec *total, int blocks) {
    int64_t per_set = (int64_t)p->n_words * blocks;
    int64_t begin = (int64_t)p->n_words * thread / p->n_threads;
    int64_t end = (int64_t)p->n_words * (thread + 1) / p->n_threads;
    for (int b = 0; b < blocks; b++) total[b] = (vec){0};
    for (int64_t w = begin; w < end; w++)
        for (int b = 0; b < blocks; b++) {
            vec s = p->partial[w * blocks + b];
            for (int k = 1; k < p->n_threads; k++) s += p->partial[k * per_set + w * blocks + b];
            s *= p->word[w * blocks + b];
            p->word[w * blocks + b] = s;
            total[b] += s;
        }
}

static void invert_totals(const Pass *p, const vec *totals) {
    for (int b = 0; b < p->blocks; b++) {
        vec s = totals[b];
        for (int t = 1; t < p->n_threads; t++) s += totals[t * MAX_BLOCKS + b];
        p->inverse_total[b] = where_positive(s, 1.0f / s);
    }
}

#define WITH_BLOCKS(CALL)                                                       \
    switch (p->blocks) {                                                        \
        case 1: { enum { N = 1 }; CALL; break; }                                \
        case 2: { enum { N = 2 }; CALL; break; }                                \
        case 4: { enum { N = 4 }; CALL; break; }                                \
        case 8: { enum { N = 8 }; CALL; break; }                                \
        default: { const int N = p->blocks; CALL; }                             \
    }

void plsa_two_pass(const Pass *p) {
    vec totals[p->n_threads * MAX_BLOCKS];
#pragma omp parallel num_threads(p->n_threads)
    {
        int thread = omp_get_thread_num();
        WITH_BLOCKS(sweep_rows(p, thread, N))
#pragma omp barrier
        WITH_BLOCKS(sweep_words(p, thread, totals + thread * MAX_BLOCKS, N))
    }
    invert_totals(p, totals);
}

void plsa_fused(const Pass *p) {
    vec totals[p->n_threads * MAX_BLOCKS];
#pragma omp parallel num_threads(p->n_threads)
    {
        int thread = omp_get_thread_num();
        WITH_BLOCKS(sweep_fused(p, thread, N))
#pragma omp barrier
        WITH_BLOCKS(merge_words(p, thread, totals + thread * MAX_BLOCKS, N))
    }
    invert_totals(p, totals);
}
