import { choiceOption, type Option } from '../platform/options.ts';

/** `-o`: the output format of a command. */
export function outputOption<const Choice extends string>(choices: readonly [Choice, ...Choice[]]): Option<Choice> {
  return choiceOption({
    flag: 'output',
    short: 'o',
    choices,
    fallback: choices[0],
    help: 'The output format.',
  });
}
