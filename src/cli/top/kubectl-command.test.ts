import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { deployments, nodes, pods } from '../../ui/terminal/state/state.harness.ts'
import { kubectlCommand } from './kubectl-command.ts'

const web = { resource: pods, namespace: 'shop', name: 'web-0' }
const access = ['--kubeconfig', '/home/me/config']
const shell = ['--', 'sh', '-c', 'command -v bash >/dev/null && exec bash || exec sh']

for (const [what, context, effect, wanted] of [
  [
    'a shell in a pod',
    undefined,
    { kind: 'shell', object: web, container: '' },
    ['exec', '--stdin', '--tty', ...access, '--namespace', 'shop', 'web-0', ...shell],
  ],
  [
    'a shell in a container, in another context',
    'prod',
    { kind: 'shell', object: web, container: 'side' },
    [
      ...['exec', '--stdin', '--tty', ...access, '--context', 'prod', '--namespace', 'shop'],
      ...['--container', 'side', 'web-0', ...shell],
    ],
  ],
  [
    'an edit of a core kind',
    undefined,
    { kind: 'edit', object: web },
    ['edit', ...access, '--namespace', 'shop', 'pods/web-0'],
  ],
  [
    'an edit of a kind of a group, in the shown version',
    undefined,
    { kind: 'edit', object: { ...web, resource: deployments, name: 'web' } },
    ['edit', ...access, '--namespace', 'shop', 'deployments.v1.apps/web'],
  ],
  [
    'an edit of an object without a namespace',
    'prod',
    { kind: 'edit', object: { resource: nodes, namespace: '', name: 'node-0' } },
    ['edit', ...access, '--context', 'prod', 'nodes/node-0'],
  ],
] as const)
  test(`the command of ${what}`, () =>
    deepEqual(kubectlCommand('/home/me/config', context)(effect), ['kubectl', ...wanted]))
