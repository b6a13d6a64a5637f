/** The extra value that names the credential itself, so that its use can be traced. */
export const credentialIdKey = 'authentication.kubernetes.io/credential-id'
