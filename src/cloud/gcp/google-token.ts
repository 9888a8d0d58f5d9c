/** Tokens for Google's APIs, with credentials as Google's libraries find them. Rejects at once where there are none. */
export async function googleToken(endpoint: string): Promise<() => Promise<string>> {
  // No secret is sent over plain HTTP, which is for servers on this machine.
  if (endpoint.startsWith('http:')) return async () => 'none';
  const { GoogleAuth } = await import('google-auth-library');
  const auth = new GoogleAuth({ scopes: ['https://www.googleapis.com/auth/cloud-platform'] });
  const token = async (): Promise<string> => (await auth.getAccessToken()) ?? '';
  await token();
  return token;
}
