// The flags for authentication, authorization, admission, audit and encryption, with upstream's names.
// readPolicySettings parses them.

export const policyFlags = {
  'admission-control-config-file': { value: '<file>', help: 'an AdmissionConfiguration: PodSecurity, ResourceQuota' },
  'anonymous-auth': { value: 'true|false', help: 'accept requests without credentials as system:anonymous (true)' },
  'audit-log-batch-buffer-size': {
    value: '<count>',
    help: 'the number of audit events buffered before they are written (10000)',
  },
  'audit-log-compress': { value: 'true|false', help: 'compress rotated audit logs (false)' },
  'audit-log-maxage': {
    value: '<days>',
    help: 'days for which rotated audit logs are kept; 0 keeps them forever (0)',
  },
  'audit-log-maxbackup': { value: '<count>', help: 'the number of rotated audit logs that are kept; 0 keeps all (0)' },
  'audit-log-maxsize': { value: '<megabytes>', help: 'the size at which the audit log is rotated (100)' },
  'audit-log-mode': {
    value: 'batch|blocking|blocking-strict',
    help: 'whether requests wait until their audit events are written (blocking)',
  },
  'audit-log-path': {
    value: '<file>',
    help: 'the file to which audit events are written, one per line; - is the standard output',
  },
  'audit-log-truncate-enabled': { value: 'true|false', help: 'truncate large audit events (false)' },
  'audit-log-truncate-max-batch-size': { value: '<bytes>', help: 'the largest batch that is written (10485760)' },
  'audit-log-truncate-max-event-size': {
    value: '<bytes>',
    help: 'the size above which an event is truncated (102400)',
  },
  'audit-policy-file': { value: '<file>', help: 'the audit policy (audit.k8s.io/v1): which requests are recorded' },
  'audit-webhook-batch-buffer-size': {
    value: '<count>',
    help: 'the number of audit events buffered; further ones are dropped (10000)',
  },
  'audit-webhook-batch-max-size': { value: '<count>', help: 'the number of audit events in one request (400)' },
  'audit-webhook-batch-max-wait': { value: '<time>', help: 'how long an event waits for a full batch (30s)' },
  'audit-webhook-config-file': { value: '<file>', help: 'the kubeconfig of the server that receives audit events' },
  'audit-webhook-initial-backoff': { value: '<time>', help: 'the delay before the first retry (10s)' },
  'audit-webhook-mode': {
    value: 'batch|blocking|blocking-strict',
    help: 'whether requests wait until the webhook has answered (batch)',
  },
  'audit-webhook-truncate-enabled': { value: 'true|false', help: 'truncate large audit events (false)' },
  'audit-webhook-truncate-max-batch-size': { value: '<bytes>', help: 'the largest batch that is sent (10485760)' },
  'audit-webhook-truncate-max-event-size': {
    value: '<bytes>',
    help: 'the size above which an event is truncated (102400)',
  },
  'authentication-config': { value: '<file>', help: 'an AuthenticationConfiguration: OIDC issuers, anonymous' },
  'authentication-token-webhook-cache-ttl': {
    value: '<time>',
    help: 'how long answers of the webhook are cached (2m)',
  },
  'authentication-token-webhook-config-file': {
    value: '<file>',
    help: 'the kubeconfig of the webhook that authenticates tokens',
  },
  'authentication-token-webhook-version': {
    value: 'v1|v1beta1',
    help: 'the version of TokenReview that is sent (v1)',
  },
  'authorization-config': { value: '<file>', help: 'an AuthorizationConfiguration: the chain of authorizers' },
  'authorization-mode': { value: '<list>', help: 'Node, RBAC, Webhook, ABAC, AlwaysAllow, AlwaysDeny (Node,RBAC)' },
  'authorization-policy-file': { value: '<file>', help: 'the policy file of ABAC, one policy per line' },
  'authorization-webhook-cache-authorized-ttl': { value: '<time>', help: 'how long allowed answers are cached (5m)' },
  'authorization-webhook-cache-unauthorized-ttl': { value: '<time>', help: 'how long denied answers are cached (30s)' },
  'authorization-webhook-config-file': {
    value: '<file>',
    help: 'the kubeconfig of the webhook that authorizes requests',
  },
  'authorization-webhook-version': {
    value: 'v1|v1beta1',
    help: 'the version of SubjectAccessReview that is sent (v1)',
  },
  'default-not-ready-toleration-seconds': {
    value: '<n>',
    help: 'how long a pod stays on a node that is not ready, if it has no toleration of its own (300)',
  },
  'default-unreachable-toleration-seconds': {
    value: '<n>',
    help: 'how long a pod stays on a node that is unreachable, if it has no toleration of its own (300)',
  },
  'disable-admission-plugins': {
    value: '<list>',
    help: 'admission plugins to disable although they are on by default',
  },
  'enable-admission-plugins': {
    value: '<list>',
    help: 'admission plugins to enable in addition to those on by default',
  },
  'encryption-provider-config': {
    value: '<file>',
    help: 'an EncryptionConfiguration: which resources are encrypted in the store',
  },
  'encryption-provider-config-automatic-reload': {
    value: 'true|false',
    help: 'check that file for changes every minute (false)',
  },
  'kubelet-certificate-authority': {
    value: '<file>',
    help: 'the CA that must have signed the serving certificates of kubelets (not checked)',
  },
  'max-mutating-requests-inflight': {
    value: '<n>',
    help: 'how many requests that write are handled at a time; see --max-requests-inflight (200)',
  },
  'max-requests-inflight': {
    value: '<n>',
    help: 'how many other requests are handled at a time; priority levels share the sum of both (400)',
  },
  'oidc-ca-file': { value: '<file>', help: "the CA of the issuer's certificate" },
  'oidc-client-id': { value: '<id>', help: 'the audience that tokens must contain' },
  'oidc-groups-claim': { value: '<claim>', help: 'the claim that holds the groups of the user' },
  'oidc-groups-prefix': { value: '<text>', help: 'a prefix for group names' },
  'oidc-issuer-url': { value: '<url>', help: 'the OpenID Connect issuer whose tokens are accepted' },
  'oidc-required-claim': { value: '<claim>=<value>', help: 'a claim that tokens must contain' },
  'oidc-signing-algs': { value: '<list>', help: 'the accepted signature algorithms (RS256)' },
  'oidc-username-claim': { value: '<claim>', help: 'the claim that holds the user name (sub)' },
  'oidc-username-prefix': { value: '<text>', help: 'a prefix for user names; - for none (the issuer URL and #)' },
  'proxy-client-cert-file': {
    value: '<file>',
    help: 'the client certificate for extension servers (one of the front proxy CA)',
  },
  'proxy-client-key-file': { value: '<file>', help: 'the key of --proxy-client-cert-file' },
  'requestheader-allowed-names': {
    value: '<list>',
    help: 'the common names of front proxies (front-proxy-client; any with --requestheader-client-ca-file)',
  },
  'requestheader-client-ca-file': {
    value: '<file>',
    help: "the CA of front proxies, in place of the cluster's own; also set --proxy-client-cert-file for extension servers",
  },
  'requestheader-extra-headers-prefix': {
    value: '<list>',
    help: 'prefixes of the headers in which front proxies send further attributes of the user (X-Remote-Extra-)',
  },
  'requestheader-group-headers': {
    value: '<list>',
    help: 'the headers in which front proxies send the groups of the user (X-Remote-Group)',
  },
  'requestheader-uid-headers': {
    value: '<list>',
    help: 'the headers in which front proxies send the uid of the user (X-Remote-Uid)',
  },
  'requestheader-username-headers': {
    value: '<list>',
    help: 'the headers in which front proxies send the name of the user (X-Remote-User)',
  },
  'service-account-issuer': { value: '<url>', help: 'the issuer of ServiceAccount tokens' },
  'token-auth-file': { value: '<file>', help: 'static tokens, one per line: token,user,uid,"group,group"' },
} as const

export type PolicyFlag = keyof typeof policyFlags
export type PolicyFlagValues = Readonly<Partial<Record<PolicyFlag, string>>>
