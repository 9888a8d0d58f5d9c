import fc from 'fast-check';

/**
 * Property tests draw the same cases on every run, so that a red build is red for everyone. To search further, set
 * FC_SEED and FC_RUNS: `FC_SEED=$RANDOM FC_RUNS=5000 npm run test:unit`.
 */
const seed = Number(process.env.FC_SEED ?? 42);
const runs = process.env.FC_RUNS;
fc.configureGlobal({ seed, ...(runs === undefined ? {} : { numRuns: Number(runs) }) });
