import { choiceOption, type Option } from '../platform/options.ts';

/** `-o`: in which form a command prints. */
export function outputOption<const Choice extends string>(choices: readonly [Choice, ...Choice[]]): Option<Choice> {
  return choiceOption({
    flag: 'output',
    short: 'o',
    choices,
    fallback: choices[0],
    help: 'How it is printed.',
  });
}
