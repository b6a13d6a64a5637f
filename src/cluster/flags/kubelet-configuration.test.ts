import { deepEqual, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { configuredFlags } from './kubelet-configuration.ts'
import { kubeletProcessSettings } from './kubelet-process-flags.ts'

const head = { apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration' }

test('a KubeletConfiguration has the same effect as its flags', () => {
  const configuration = {
    ...head,
    port: 10_260,
    clusterDNS: ['10.96.0.10', 'fd00::10'],
    evictionHard: { 'memory.available': '5%', 'nodefs.available': '1Gi' },
    kubeReserved: { cpu: '100m' },
    serverTLSBootstrap: true,
    staticPodPath: '/m',
    shutdownGracePeriodByPodPriority: [{ priority: 0, shutdownGracePeriodSeconds: 30 }],
    registerWithTaints: [
      { key: 'a', value: 'b', effect: 'NoSchedule' },
      { key: 'c', effect: 'NoExecute' },
    ],
    authentication: { anonymous: { enabled: false }, webhook: { enabled: true, cacheTTL: '1m' } },
    authorization: { mode: 'Webhook', webhook: { cacheAuthorizedTTL: '2m' } },
  }
  const flags = configuredFlags(configuration)
  deepEqual(flags, {
    port: '10260',
    'cluster-dns': '10.96.0.10,fd00::10',
    'eviction-hard': 'memory.available<5%,nodefs.available<1Gi',
    'kube-reserved': 'cpu=100m',
    'rotate-server-certificates': 'true',
    'pod-manifest-path': '/m',
    'shutdown-grace-period-by-pod-priority': '0=30s',
    'register-with-taints': 'a=b:NoSchedule,c=:NoExecute',
    'authentication-token-webhook-cache-ttl': '1m',
    'authorization-webhook-cache-authorized-ttl': '2m',
  })
  const { port, taints, rotatesServing, reviews } = kubeletProcessSettings(flags)
  deepEqual(
    [port, taints, rotatesServing, reviews],
    [
      10_260,
      [
        { key: 'a', value: 'b', effect: 'NoSchedule' },
        { key: 'c', effect: 'NoExecute' },
      ],
      true,
      { tokenMs: 60_000, allowedMs: 120_000, deniedMs: 30_000 },
    ],
  )
})

const wrong: [name: string, configuration: unknown, message: RegExp][] = [
  ['no kind', { apiVersion: head.apiVersion }, /^kind is required: KubeletConfiguration$/],
  ['another kind', { ...head, kind: 'Kubelet' }, /^kind must be "KubeletConfiguration" here$/],
  ['a field that is not supported', { ...head, podsPerCore: 3 }, /^podsPerCore is not a field that is supported$/],
  [
    'a nested field that is not supported',
    { ...head, authentication: { oidc: {} } },
    /^authentication.oidc is not a field that is supported$/,
  ],
  [
    'anonymous access is enabled',
    { ...head, authentication: { anonymous: { enabled: true } } },
    /anonymous.enabled must be false/,
  ],
  [
    'authorization is AlwaysAllow',
    { ...head, authorization: { mode: 'AlwaysAllow' } },
    /authorization.mode must be "Webhook"/,
  ],
  ['a number is a string', { ...head, port: '10250' }, /^port is not of its type$/],
  ['not an object', [], /must be an object/],
]
for (const [name, configuration, message] of wrong)
  test(`a KubeletConfiguration is refused: ${name}`, () => throws(() => configuredFlags(configuration), { message }))

const wrongFlags: [flags: Parameters<typeof kubeletProcessSettings>[0], message: RegExp][] = [
  [{ port: '70000' }, /^--port: "70000" is no whole number up to 65535$/],
  [{ 'register-with-taints': 'a=b' }, /^--register-with-taints: "a=b" is no taint/],
  [{ 'node-labels': 'x.k8s.io/a=b' }, /unknown 'kubernetes.io' or 'k8s.io' labels .* \[x.k8s.io\/a\]/],
  [{ 'rotate-certificates': 'yes' }, /^--rotate-certificates: "yes" is neither true nor false$/],
  [{ 'container-runtime-endpoint': 'tcp://x' }, /^--container-runtime-endpoint: .* is no unix socket/],
  [{ 'tls-cert-file': '/etc/hostname' }, /belong together/],
]
for (const [flags, message] of wrongFlags)
  test(`${JSON.stringify(flags)} is refused`, () => throws(() => kubeletProcessSettings(flags), { message }))

test('node labels are limited to those that the NodeRestriction plugin allows', () => {
  const { labels } = kubeletProcessSettings({
    'node-labels': 'disk=ssd,node.kubernetes.io/role=x,topology.kubernetes.io/zone=a,empty',
  })
  deepEqual(labels, {
    disk: 'ssd',
    'node.kubernetes.io/role': 'x',
    'topology.kubernetes.io/zone': 'a',
    empty: '',
  })
})
