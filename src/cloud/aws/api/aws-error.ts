/** Converts AWS errors to our own, with a retry class and a message for users. */
import { asError, SpindriftError } from '../../../platform/errors.ts';

const THROTTLED = new Set([
  'Throttling',
  'ThrottlingException',
  'ThrottledException',
  'RequestThrottled',
  'RequestThrottledException',
  'RequestLimitExceeded',
  'TooManyRequestsException',
  'BandwidthLimitExceeded',
  'EC2ThrottledException',
  'Client.RequestLimitExceeded',
]);
const DENIED = new Set([
  'UnauthorizedOperation',
  'AccessDenied',
  'AccessDeniedException',
  'NotAuthorized',
  'Client.UnauthorizedOperation',
]);
/** Invalid or expired credentials: they may be renewed at any moment. */
const UNKNOWN_CALLER = new Set([
  'ExpiredToken',
  'ExpiredTokenException',
  'RequestExpired',
  'AuthFailure',
  'InvalidClientTokenId',
  'UnrecognizedClientException',
  'CredentialsProviderError',
  'TokenProviderError',
  'InvalidIdentityToken',
  'IncompleteSignature',
  'SignatureDoesNotMatch',
]);
const NOT_FOUND = new Set([
  'InvalidInstanceID.NotFound',
  'InvalidLaunchTemplateName.NotFoundException',
  'InvalidLaunchTemplateId.NotFound',
  'InvalidCapacityReservationId.NotFound',
  'InvalidPlacementGroup.Unknown',
  'InvalidPlacementGroupId.Unknown',
  'NoSuchEntity',
  'NoSuchEntityException',
  'ParameterNotFound',
  'ResourceNotFoundException',
]);

/** The AWS code of an error; empty if it is not from AWS. */
export function awsCodeOf(error: unknown): string {
  const cause = error instanceof SpindriftError ? error.cause : error;
  if (typeof cause !== 'object' || cause === null) return '';
  const { Code: code, name } = cause as { Code?: unknown; name?: unknown };
  return typeof code === 'string' && code !== '' ? code : typeof name === 'string' ? name : '';
}

/** Whether AWS says that the resource does not exist. */
export function isNotFound(error: unknown): boolean {
  return NOT_FOUND.has(awsCodeOf(error));
}

export function isThrottled(error: unknown): boolean {
  return THROTTLED.has(awsCodeOf(error));
}

export function isDenied(error: unknown): boolean {
  return DENIED.has(awsCodeOf(error));
}

/** Converts anything the SDK throws to an error of our registry, with the original as its cause. */
export function asCloudError(operation: string, thrown: unknown): SpindriftError {
  if (thrown instanceof SpindriftError) return thrown;
  const code = awsCodeOf(thrown);
  const message = firstLine(asError(thrown).message);
  const options = { cause: thrown };
  if (THROTTLED.has(code)) return new SpindriftError('CLOUD_THROTTLED', { operation }, options);
  if (DENIED.has(code)) {
    return new SpindriftError('CLOUD_DENIED', { operation, problem: deniedPhrase(operation, message) }, options);
  }
  if (UNKNOWN_CALLER.has(code) || /could not load credentials/i.test(message)) {
    return new SpindriftError('CLOUD_CREDENTIALS', { operation, problem: `${code}: ${message}` }, options);
  }
  const { $fault, $metadata } = thrown as { $fault?: string; $metadata?: { httpStatusCode?: number } };
  const status = $metadata?.httpStatusCode ?? 0;
  if ($fault === 'client' && status >= 400 && status < 500) {
    return new SpindriftError('CLOUD_REFUSED', { operation, problem: `${code}: ${message}` }, options);
  }
  return new SpindriftError(
    'CLOUD_UNAVAILABLE',
    { operation, problem: code === '' ? message : `${code}: ${message}` },
    options,
  );
}

/** Names the action to allow, and the resource if AWS names it. AWS's own message adds a long encoded text after that. */
function deniedPhrase(operation: string, message: string): string {
  const said = /not authorized to perform: (\S+?)(?: on resource: (\S+?))?(?:[ ,.]|$)/.exec(message);
  const [, action = operation, resource = '*'] = said ?? [];
  return `the role of the controller lacks ${action} on ${resource}; spindrift aws policy prints what it needs`;
}

function firstLine(message: string): string {
  const [line = ''] = message.split('\n');
  return line.replace(/ Encoded authorization failure message: .*/, '').slice(0, 500);
}
