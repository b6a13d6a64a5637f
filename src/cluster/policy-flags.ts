// The flags that say who is believed and who may do what, with upstream's names; readPolicySettings makes settings of them.

export const policyFlags = {
  'anonymous-auth': { value: 'true|false', help: 'lets requests without credentials in as system:anonymous (true)' },
  'audit-log-maxage': { value: '<days>', help: 'how long full audit logs are kept; 0 for ever (0)' },
  'audit-log-maxbackup': { value: '<count>', help: 'how many full audit logs are kept; 0 for all (0)' },
  'audit-log-maxsize': { value: '<megabytes>', help: 'how large an audit log grows (100)' },
  'audit-log-path': { value: '<file>', help: 'where audit events are written, one line each' },
  'audit-policy-file': { value: '<file>', help: 'a Policy of audit.k8s.io/v1: which requests are recorded' },
  'audit-webhook-batch-buffer-size': { value: '<count>', help: 'audit events that may wait; more are dropped (10000)' },
  'audit-webhook-batch-max-size': { value: '<count>', help: 'audit events that are sent at once (400)' },
  'audit-webhook-batch-max-wait': { value: '<time>', help: 'how long one waits for others (30s)' },
  'audit-webhook-config-file': { value: '<file>', help: 'a kubeconfig of the server that takes audit events' },
  'audit-webhook-initial-backoff': { value: '<time>', help: 'the pause before the second try (10s)' },
  'authentication-config': { value: '<file>', help: 'an AuthenticationConfiguration: OIDC issuers, anonymous' },
  'authentication-token-webhook-cache-ttl': { value: '<time>', help: 'how long its answers are remembered (2m)' },
  'authentication-token-webhook-config-file': { value: '<file>', help: 'a kubeconfig of the server that knows tokens' },
  'authentication-token-webhook-version': {
    value: 'v1|v1beta1',
    help: 'the version of TokenReview that it speaks (v1)',
  },
  'authorization-config': { value: '<file>', help: 'an AuthorizationConfiguration: the chain of authorizers' },
  'authorization-mode': { value: '<list>', help: 'Node, RBAC, Webhook, ABAC, AlwaysAllow, AlwaysDeny (Node,RBAC)' },
  'authorization-policy-file': { value: '<file>', help: 'the policies of ABAC, one per line' },
  'authorization-webhook-cache-authorized-ttl': { value: '<time>', help: 'how long a yes is remembered (5m)' },
  'authorization-webhook-cache-unauthorized-ttl': { value: '<time>', help: 'how long a no is remembered (30s)' },
  'authorization-webhook-config-file': { value: '<file>', help: 'a kubeconfig of the server that decides' },
  'authorization-webhook-version': {
    value: 'v1|v1beta1',
    help: 'the version of SubjectAccessReview that it speaks (v1)',
  },
  'encryption-provider-config': { value: '<file>', help: 'an EncryptionConfiguration: what is encrypted in the store' },
  'encryption-provider-config-automatic-reload': {
    value: 'true|false',
    help: 'looks every minute whether that file has changed (false)',
  },
  'kubelet-certificate-authority': {
    value: '<file>',
    help: 'who must have signed the certificates of kubelets that are called (anybody)',
  },
  'oidc-ca-file': { value: '<file>', help: 'the authority of the issuer' },
  'oidc-client-id': { value: '<id>', help: 'the audience that its tokens must name' },
  'oidc-groups-claim': { value: '<claim>', help: 'the claim that names groups' },
  'oidc-groups-prefix': { value: '<text>', help: 'stands before their names' },
  'oidc-issuer-url': { value: '<url>', help: 'an OpenID issuer whose tokens are believed' },
  'oidc-required-claim': { value: '<claim>=<value>', help: 'a claim that its tokens must have' },
  'oidc-signing-algs': { value: '<list>', help: 'how its tokens may be signed (RS256)' },
  'oidc-username-claim': { value: '<claim>', help: 'the claim that names the user (sub)' },
  'oidc-username-prefix': { value: '<text>', help: 'stands before the name; - for none (the issuer and #)' },
  'service-account-issuer': { value: '<url>', help: 'who signs ServiceAccount tokens' },
  'token-auth-file': { value: '<file>', help: 'lines of token,user,uid,"group,group"' },
} as const

export type PolicyFlag = keyof typeof policyFlags
export type PolicyFlagValues = Readonly<Partial<Record<PolicyFlag, string>>>
