import { LIVE_OPTIONS } from '../app/live-options.ts';
import { choiceOption } from '../platform/options.ts';

/** How much is logged and in what form; the same for every command that runs for long. */
export const LOG_OPTIONS = {
  logLevel: LIVE_OPTIONS.logLevel,
  logFormat: choiceOption({
    flag: 'log-format',
    env: 'LOG_FORMAT',
    choices: ['auto', 'json', 'pretty'],
    fallback: 'auto',
    help: 'One JSON object a line, or lines for a person; auto is pretty on a terminal.',
  }),
};
