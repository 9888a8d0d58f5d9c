import { LOG_LEVELS } from '../platform/logger.ts';
import { choiceOption } from '../platform/options.ts';

/** How much is logged and in what form; the same for every command that runs for long. */
export const LOG_OPTIONS = {
  logLevel: choiceOption({
    flag: 'log-level',
    env: 'LOG_LEVEL',
    choices: LOG_LEVELS,
    fallback: 'info',
    help: 'The least important lines that are logged.',
  }),
  logFormat: choiceOption({
    flag: 'log-format',
    env: 'LOG_FORMAT',
    choices: ['auto', 'json', 'pretty'],
    fallback: 'auto',
    help: 'One JSON object a line, or lines for a person; auto is pretty on a terminal.',
  }),
};
