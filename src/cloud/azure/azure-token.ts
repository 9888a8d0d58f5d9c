/** Tokens for Azure Resource Manager, with credentials as Microsoft's libraries find them. Rejects at once where there are none. */
export async function azureToken(endpoint: string): Promise<() => Promise<string>> {
  // No secret is sent over plain HTTP, which is for servers on this machine.
  if (endpoint.startsWith('http:')) return async () => 'none';
  const { DefaultAzureCredential } = await import('@azure/identity');
  const credential = new DefaultAzureCredential();
  const token = async (): Promise<string> => (await credential.getToken(`${endpoint}/.default`)).token;
  await token();
  return token;
}
