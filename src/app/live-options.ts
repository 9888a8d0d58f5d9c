import { LOG_LEVELS } from '../platform/logger.ts';
import { choiceOption, durationOption } from '../platform/options.ts';

/** Options that can change while the program runs: what a settings file says of them counts at once. */
export const LIVE_OPTIONS = {
  logLevel: choiceOption({
    flag: 'log-level',
    env: 'LOG_LEVEL',
    choices: LOG_LEVELS,
    fallback: 'info',
    help: 'The least important lines that are logged.',
  }),
  batchIdleMs: durationOption({
    flag: 'batch-idle-duration',
    env: 'BATCH_IDLE_DURATION',
    fallback: '1s',
    help: 'How long no pod must come before a batch of pending pods is looked at.',
  }),
  batchMaxMs: durationOption({
    flag: 'batch-max-duration',
    env: 'BATCH_MAX_DURATION',
    fallback: '10s',
    help: 'The longest time a batch is waited for.',
  }),
};
