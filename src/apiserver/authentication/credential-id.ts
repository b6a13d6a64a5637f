/** The key of the extra value that identifies the credential in audit events. */
export const credentialIdKey = 'authentication.kubernetes.io/credential-id'
