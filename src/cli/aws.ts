import { SpindriftError } from '../platform/errors.ts';
import { choiceOption, durationOption, switchOption, textOption } from '../platform/options.ts';
import { command } from './command.ts';
import { outputOption } from './output-option.ts';

const WORDS = ['setup-queue', 'check', 'policy', 'prices'];

/** `spindrift aws`: the interruption queue in an AWS account, the policy of the controller, and prices. */
export const AWS = command({
  name: 'aws',
  summary:
    'Sets up and checks the SQS queue for AWS interruption notices; prints the IAM policy of the controller, and prices.',
  usage: 'setup-queue|check|policy --cluster NAME [options] | prices [PREFIX] [options]',
  takesWords: true,
  options: {
    cluster: textOption({
      flag: 'cluster',
      env: 'CLUSTER_NAME',
      placeholder: 'NAME',
      help: 'The cluster; the queue and the rules are named after it.',
    }),
    queue: textOption({
      flag: 'queue',
      env: 'INTERRUPTION_QUEUE',
      placeholder: 'NAME',
      help: 'The name of the queue; spindrift-CLUSTER when not given.',
    }),
    region: textOption({
      flag: 'region',
      env: 'AWS_REGION',
      placeholder: 'REGION',
      help: 'The region of the cluster; that of the AWS profile when not given.',
    }),
    endpoint: textOption({
      flag: 'endpoint',
      env: 'AWS_ENDPOINT_URL',
      placeholder: 'URL',
      help: 'An endpoint to call instead of AWS, for tests.',
    }),
    dryRun: switchOption({
      flag: 'dry-run',
      help: 'setup-queue: prints the changes without making them.',
    }),
    remove: switchOption({
      flag: 'remove',
      help: 'setup-queue: deletes the queue and the rules.',
    }),
    print: choiceOption({
      flag: 'print',
      choices: ['nothing', 'cloudformation', 'terraform', 'policy'],
      fallback: 'nothing',
      help: 'setup-queue: prints a template, or the IAM policy that the controller needs, instead of calling AWS.',
    }),
    account: textOption({
      flag: 'account',
      placeholder: 'ID',
      fallback: '*',
      help: 'policy: the AWS account of the cluster.',
    }),
    partition: choiceOption({
      flag: 'partition',
      choices: ['aws', 'aws-cn', 'aws-us-gov'],
      fallback: 'aws',
      help: 'policy: the AWS partition of the account.',
    }),
    nodeRole: textOption({
      flag: 'node-role',
      placeholder: 'NAME',
      help: 'policy: the IAM role of nodes; KarpenterNodeRole-CLUSTER when not given.',
    }),
    builtIn: switchOption({
      flag: 'built-in',
      help: 'prices: shows the built-in table, without calling AWS.',
    }),
    output: outputOption(['table', 'json']),
    waitMs: durationOption({
      flag: 'wait',
      fallback: '30s',
      help: 'check: how long to wait for the test event to arrive in the queue.',
    }),
  },
  run: async ({ values, positionals }, { signal, out }) => {
    const [word = '', extra] = positionals;
    const wrong = (problem: string): SpindriftError =>
      new SpindriftError('ARGUMENT_INVALID', { command: `spindrift aws ${word}`.trim(), problem });
    if (!WORDS.includes(word)) throw wrong(`write ${WORDS.join(' or ')} after aws`);
    if (word === 'prices') {
      const { region, endpoint, builtIn, output } = values;
      const { awsPrices } = await import('./aws/aws-prices.ts');
      const place = { ...(region === undefined ? {} : { region }), ...(endpoint === undefined ? {} : { endpoint }) };
      out(await awsPrices({ ...place, ...(extra === undefined ? {} : { prefix: extra }), builtIn, output, signal }));
      return 0;
    }
    if (extra !== undefined) throw wrong(`unexpected argument ${extra}`);
    if (values.cluster === undefined) throw wrong('name the cluster with --cluster');
    if (word === 'policy') {
      const { cluster, region = '*', account, partition, nodeRole, queue } = values;
      const { controllerPolicy } = await import('../cloud/aws/policy/controller-policy.ts');
      const known = { ...(nodeRole === undefined ? {} : { nodeRole }), ...(queue === undefined ? {} : { queue }) };
      out(`${JSON.stringify(controllerPolicy({ cluster, region, account, partition, ...known }), null, 2)}\n`);
      return 0;
    }
    const { awsCommand } = await import('./aws/aws-command.ts');
    return awsCommand({ ...values, cluster: values.cluster, word: word as 'setup-queue' | 'check', signal, out });
  },
});
