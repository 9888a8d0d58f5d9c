/** Credentials for IBM Cloud, and service clients that use them. The SDK is loaded only when it is needed. */
import { asError, SpindriftError } from '../../../platform/errors.ts';
import type { AuthType } from './auth-types.ts';
import type { ApiAnswer, ApiCall, HttpService } from './http-service.ts';

export interface Credentials {
  readonly type: AuthType;
  readonly apiKey?: string | undefined;
  /** The ID of a trusted profile, or its name if an account is given. */
  readonly profileId?: string | undefined;
  readonly profileName?: string | undefined;
  readonly accountId?: string | undefined;
  /** The file with the token of the service account. */
  readonly tokenFile?: string | undefined;
  readonly iamUrl?: string | undefined;
  /** The URL of the metadata service, if it is not the default. */
  readonly metadataUrl?: string | undefined;
}

/** Creates service clients for URLs; all of them share one token. */
export type ServiceOpener = (url: string) => HttpService;

const TIMEOUT_MS = 30_000;

/** Loads the SDK and prepares authentication; rejects with a message if credentials are missing. */
export async function authenticate(credentials: Credentials): Promise<ServiceOpener> {
  const missing = missingCredentials(credentials);
  if (missing !== undefined)
    throw new SpindriftError('CLOUD_DENIED', { operation: 'authentication', problem: missing });
  const sdk = await import('ibm-cloud-sdk-core');
  const authenticator = authenticatorOf(sdk, credentials);
  class Service extends sdk.BaseService {
    send(call: ApiCall, signal: AbortSignal): Promise<SdkAnswer> {
      const { method, path: url, query = {}, body } = call;
      const qs = Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined));
      const contentType = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
      const headers = { Accept: 'application/json', ...(body === undefined ? {} : { 'Content-Type': contentType }) };
      // All statuses are accepted here and interpreted by us.
      const axiosOptions = {
        signal,
        validateStatus: () => true,
        timeout: TIMEOUT_MS,
        maxBodyLength: Number.POSITIVE_INFINITY,
      };
      return this.createRequest({
        options: { url, method, qs, ...(body === undefined ? {} : { body: body as object }) },
        defaultOptions: { ...this.baseOptions, headers, axiosOptions },
      }) as Promise<SdkAnswer>;
    }
  }
  return (serviceUrl) => {
    const service = new Service({ authenticator, serviceUrl });
    return { send: (call, signal) => service.send(call, signal).then(answerOf, failed) };
  };
}

interface SdkAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly result?: unknown;
}

function missingCredentials({ type, apiKey, profileId, profileName, accountId }: Credentials): string | undefined {
  if (type === 'iam' && apiKey === undefined)
    return 'there is no API key: set IBMCLOUD_API_KEY or VPC_API_KEY, or choose another --ibm-auth-type';
  if (type === 'container' && profileId === undefined && profileName === undefined)
    return '--ibm-auth-type container needs the trusted profile: set --ibm-trusted-profile-id or --ibm-trusted-profile-name';
  if (type === 'iam' && profileName !== undefined && accountId === undefined)
    return '--ibm-trusted-profile-name needs the account: set IBM_ACCOUNT_ID';
  return undefined;
}

type Sdk = typeof import('ibm-cloud-sdk-core');

function authenticatorOf(
  sdk: Sdk,
  { type, apiKey = '', profileId, profileName, accountId, tokenFile, iamUrl, metadataUrl }: Credentials,
) {
  const url = iamUrl === undefined ? {} : { url: iamUrl };
  switch (type) {
    case 'vpc':
      return new sdk.VpcInstanceAuthenticator({
        ...(profileId === undefined ? {} : { iamProfileId: profileId }),
        ...(metadataUrl === undefined ? {} : { url: metadataUrl }),
      });
    case 'container':
      return new sdk.ContainerAuthenticator({
        ...url,
        ...(profileId === undefined ? {} : { iamProfileId: profileId }),
        ...(profileName === undefined ? {} : { iamProfileName: profileName }),
        ...(tokenFile === undefined ? {} : { crTokenFilename: tokenFile }),
      });
    case 'iam':
      if (profileId === undefined && profileName === undefined)
        return new sdk.IamAuthenticator({ apikey: apiKey, ...url });
      return new sdk.IamAssumeAuthenticator({
        apikey: apiKey,
        ...url,
        ...(profileId === undefined
          ? { iamProfileName: profileName as string, iamAccountId: accountId as string }
          : { iamProfileId: profileId }),
      });
  }
}

function answerOf({ status, headers, result }: SdkAnswer): ApiAnswer {
  const known = Object.entries(headers).map(([name, value]) => [
    name.toLowerCase(),
    value === undefined ? undefined : String(value),
  ]);
  return { status, headers: Object.fromEntries(known), body: result };
}

/** Services accept every status, so a status here is IAM's: it gave us no token. */
function failed(error: unknown): never {
  const { status, message } = error as { status?: number; message?: string };
  if (status !== undefined && status >= 400 && status < 500 && status !== 429) {
    const problem = `IAM gave no token: ${message} (HTTP ${status})`;
    throw new SpindriftError('CLOUD_DENIED', { operation: 'authentication', problem }, { cause: error });
  }
  throw asError(error);
}
