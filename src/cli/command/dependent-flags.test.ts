import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { kubelet } from '../commands/kubelet.ts'
import { up } from '../commands/up.ts'
import type { Command } from './command.ts'
import { flagsWithoutEffect } from './dependent-flags.ts'

const rows: [what: string, command: Command, given: string[], sentences: string[]][] = [
  [
    'an audit policy without a backend',
    up,
    ['audit-policy-file'],
    ['--audit-policy-file has no effect without --audit-log-path or --audit-webhook-config-file'],
  ],
  ['an audit policy and a log', up, ['audit-policy-file', 'audit-log-path'], []],
  ['an audit policy and a webhook', up, ['audit-policy-file', 'audit-webhook-config-file'], []],
  [
    'an audit log and its size without a policy',
    up,
    ['audit-log-path', 'audit-log-maxsize'],
    ['--audit-log-path has no effect without --audit-policy-file'],
  ],
  [
    'the size of an audit log without a log',
    up,
    ['audit-log-maxsize'],
    ['--audit-log-maxsize has no effect without --audit-log-path'],
  ],
  [
    'a truncation limit without truncation',
    up,
    ['audit-policy-file', 'audit-log-path', 'audit-log-truncate-max-event-size'],
    ['--audit-log-truncate-max-event-size has no effect without --audit-log-truncate-enabled'],
  ],
  [
    'an OIDC client without an issuer',
    up,
    ['oidc-client-id'],
    ['--oidc-client-id has no effect without --oidc-issuer-url'],
  ],
  ['an OIDC client with an issuer', up, ['oidc-issuer-url', 'oidc-client-id'], []],
  [
    'an ABAC policy file without an authorization mode',
    up,
    ['authorization-policy-file'],
    ['--authorization-policy-file has no effect without --authorization-mode'],
  ],
  ['a certificate for etcd without a store', up, ['etcd-cafile'], ['--etcd-cafile has no effect without --store']],
  ['flags that depend on no other flag', up, ['port', 'nodes', 'verbose'], []],
  [
    'a soft eviction grace period without thresholds',
    kubelet,
    ['eviction-soft-grace-period'],
    ['--eviction-soft-grace-period has no effect without --eviction-soft'],
  ],
  ['a soft eviction grace period with a configuration file', kubelet, ['eviction-soft-grace-period', 'config'], []],
  // The kubelet reviews tokens through the API server and has no webhook to configure.
  ['a cache TTL for tokens in a kubelet', kubelet, ['authentication-token-webhook-cache-ttl'], []],
]
for (const [what, command, given, sentences] of rows)
  test(`flags without effect: ${what}`, () => {
    const options = Object.fromEntries(given.map((flag) => [flag, 'x']))
    deepEqual(flagsWithoutEffect(command.options, options), sentences)
  })
