import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { configuredFlags } from '../flags/kubelet-configuration.ts'
import { kubeletSettings } from '../flags/kubelet-flags.ts'
import { kubeletProcessSettings } from '../flags/kubelet-process-flags.ts'
import { configz } from './configz.ts'

const cases: [
  why: string,
  flags: Parameters<typeof kubeletSettings>[0] & Parameters<typeof kubeletProcessSettings>[0],
][] = [
  ['no flag is set', {}],
  ['eviction thresholds are disabled', { 'eviction-hard': '' }],
  [
    'many flags are set',
    {
      address: '127.0.0.1',
      'authentication-token-webhook-cache-ttl': '1m',
      'authorization-webhook-cache-authorized-ttl': '7s',
      'authorization-webhook-cache-unauthorized-ttl': '8s',
      'cgroup-root': '/x',
      'cluster-dns': '10.96.0.10,fd00::10',
      'cluster-domain': 'example.com',
      'container-log-max-files': '3',
      'allowed-unsafe-sysctls': 'kernel.msg*,net.core.somaxconn',
      'container-log-max-size': '20000',
      'container-runtime-endpoint': 'unix:///run/x.sock',
      'eviction-hard': 'memory.available<5%,nodefs.available<1Gi',
      'eviction-max-pod-grace-period': '9',
      'eviction-minimum-reclaim': 'nodefs.available=500Mi',
      'eviction-pressure-transition-period': '1m30s',
      'eviction-soft': 'memory.available<10%',
      'eviction-soft-grace-period': 'memory.available=90s',
      'healthz-port': '0',
      'http-check-frequency': '1s',
      'image-gc-high-threshold': '70',
      'image-gc-low-threshold': '60',
      'image-maximum-gc-age': '24h',
      'kube-reserved': 'cpu=100m,memory=1Gi',
      'manifest-url': 'https://example.com/pods',
      'max-pods': '7',
      'minimum-image-ttl-duration': '3m',
      'pod-manifest-path': '/m',
      port: '10260',
      'register-with-taints': 'a=b:NoSchedule,c=:NoExecute',
      'resolv-conf': '/etc/other',
      'rotate-certificates': 'false',
      'rotate-server-certificates': 'true',
      'shutdown-grace-period-by-pod-priority': '0=30s,2000000000=10s',
      'system-reserved': 'memory=2Gi',
    },
  ],
]
for (const [why, flags] of cases)
  test(`the configuration in configz gives the same settings when ${why}`, () => {
    const settings = kubeletSettings(flags)
    const own = kubeletProcessSettings(flags)
    const again = configuredFlags(JSON.parse(JSON.stringify(configz(settings, own))))
    deepEqual([kubeletSettings(again), kubeletProcessSettings(again)], [settings, own])
  })
