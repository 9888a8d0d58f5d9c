import { LIVE_OPTIONS } from '../app/live-options.ts';
import { choiceOption } from '../platform/options.ts';

/** Log options of all long-running commands. */
export const LOG_OPTIONS = {
  logLevel: LIVE_OPTIONS.logLevel,
  logFormat: choiceOption({
    flag: 'log-format',
    env: 'LOG_FORMAT',
    choices: ['auto', 'json', 'pretty'],
    fallback: 'auto',
    help: 'json prints one JSON object per line, pretty prints lines for people; auto is pretty on a terminal.',
  }),
};
