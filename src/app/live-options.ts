import { LOG_LEVELS } from '../platform/logger.ts';
import { choiceOption, durationOption } from '../platform/options.ts';

/** Options that a settings file can change while the program runs. */
export const LIVE_OPTIONS = {
  logLevel: choiceOption({
    flag: 'log-level',
    env: 'LOG_LEVEL',
    choices: LOG_LEVELS,
    fallback: 'info',
    help: 'The lowest level that is logged.',
  }),
  batchIdleMs: durationOption({
    flag: 'batch-idle-duration',
    env: 'BATCH_IDLE_DURATION',
    fallback: '1s',
    help: 'A batch of pending pods is planned once no new pod has arrived for this long.',
  }),
  batchMaxMs: durationOption({
    flag: 'batch-max-duration',
    env: 'BATCH_MAX_DURATION',
    fallback: '10s',
    help: 'A batch is planned at the latest after this time.',
  }),
};
