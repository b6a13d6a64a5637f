import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { kubelet } from '../commands/kubelet.ts'
import { up } from '../commands/up.ts'
import type { Command } from './command.ts'
import { flagsWithoutEffect } from './dependent-flags.ts'

const rows: [what: string, command: Command, given: string[], sentences: string[]][] = [
  [
    'an audit policy and nowhere to write to',
    up,
    ['audit-policy-file'],
    ['--audit-policy-file has no effect without --audit-log-path or --audit-webhook-config-file'],
  ],
  ['an audit policy and a log', up, ['audit-policy-file', 'audit-log-path'], []],
  ['an audit policy and a webhook', up, ['audit-policy-file', 'audit-webhook-config-file'], []],
  [
    'an audit log without a policy, and how large it grows',
    up,
    ['audit-log-path', 'audit-log-maxsize'],
    ['--audit-log-path has no effect without --audit-policy-file'],
  ],
  ['how large a log grows', up, ['audit-log-maxsize'], ['--audit-log-maxsize has no effect without --audit-log-path']],
  [
    'bounds of events that are not cut',
    up,
    ['audit-policy-file', 'audit-log-path', 'audit-log-truncate-max-event-size'],
    ['--audit-log-truncate-max-event-size has no effect without --audit-log-truncate-enabled'],
  ],
  ['an OIDC client', up, ['oidc-client-id'], ['--oidc-client-id has no effect without --oidc-issuer-url']],
  ['an issuer and its client', up, ['oidc-issuer-url', 'oidc-client-id'], []],
  [
    'policies of ABAC',
    up,
    ['authorization-policy-file'],
    ['--authorization-policy-file has no effect without --authorization-mode'],
  ],
  ["a certificate of etcd's", up, ['etcd-cafile'], ['--etcd-cafile has no effect without --store']],
  ['flags that need none', up, ['port', 'nodes', 'verbose'], []],
  [
    'a grace period of evictions that never come',
    kubelet,
    ['eviction-soft-grace-period'],
    ['--eviction-soft-grace-period has no effect without --eviction-soft'],
  ],
  ['the same where a file may say when', kubelet, ['eviction-soft-grace-period', 'config'], []],
  // The kubelet reviews tokens through the API server and has no webhook to configure.
  ['how long a token is believed by a kubelet', kubelet, ['authentication-token-webhook-cache-ttl'], []],
]
for (const [what, command, given, sentences] of rows)
  test(`flags without effect: ${what}`, () => {
    const options = Object.fromEntries(given.map((flag) => [flag, 'x']))
    deepEqual(flagsWithoutEffect(command.options, options), sentences)
  })
