// A Deployment in real containers from creation to deletion, and the output of coxswain flow afterwards: the complete
// chain from each command, without unrelated events.
import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'
import type { FlowNode } from '../../src/flows/flow-graph.ts'
import { coxswain } from '../process.ts'
import { untilMatch } from '../until.ts'
import { inNamespaces } from './namespaces.ts'
import { startRealUp } from './up.harness.ts'

const say = 'while true; do echo tick; sleep 1; done'
const settled = ['rollout', 'status', 'deployment/web', '--timeout=200s']

const flatten = (nodes: readonly FlowNode[]): FlowNode[] => nodes.flatMap((node) => [node, ...flatten(node.children)])

inNamespaces(import.meta.url, () => {
  test('apply, logs, exec, scale, rollout restart, delete; the flow shows all of them', async () => {
    await using up = await startRealUp()
    const { image, k } = up
    const labels = { app: 'web' }
    const container = { name: 'c', image, command: ['/bin/sh', '-c', say] }
    await up.apply({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'web' },
      spec: {
        replicas: 2,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { terminationGracePeriodSeconds: 1, containers: [container] } },
      },
    })
    await k(settled)
    match(await k(['get', 'pods']), /^(?:NAME.*\n)(?:web-\S+ +1\/1 +Running +0 .*\n){2}$/)
    await untilMatch(() => k(['logs', 'deployment/web']), /^tick\n/)
    equal(await k(['exec', 'deployment/web', '--', 'echo', 'hello']), 'hello\n')
    await k(['scale', 'deployment/web', '--replicas=3'])
    await k(settled)
    await k(['rollout', 'restart', 'deployment/web'])
    await k(settled)
    await k(['delete', 'deployment', 'web'])
    await k(['wait', '--for=delete', 'pods', '-l', 'app=web', '--timeout=200s'])

    const flow = async (format: string) => {
      const args = ['flow', 'deployment/web', '--format', format, '--kubeconfig', up.kubeconfig]
      return (await promisify(execFile)(coxswain, args, { maxBuffer: 2 ** 26 })).stdout
    }
    const roots = JSON.parse(await flow('json')) as FlowNode[]
    deepEqual(
      roots.map(({ event }) => `${event.from} ${event.what}`),
      ['create deployments', 'patch deployments/scale', 'patch deployments', 'delete deployments'].map(
        (what) => `kubectl ${what}`,
      ),
      'each of the four commands that changed something, and nothing else, begins a chain',
    )
    const events = flatten(roots).map(({ event }) => event)
    const foreign = events.filter(({ object }) => object !== undefined && !/^web(-|$)/.test(object.name))
    deepEqual(
      new Set(foreign.map(({ from, what }) => `${from.split('/')[0]} ${what}`)),
      new Set(['kubelet create serviceaccounts/token']),
      'but for the token in each pod all is about the Deployment and what came of it',
    )
    const pods = (from: RegExp, what: RegExp) =>
      new Set(events.filter((each) => from.test(each.from) && what.test(each.what)).map(({ object }) => object?.name))
    const made = pods(/^API Server$/, /^put pod$/)
    equal(made.size, 6, 'three pods of each template')
    const stages: [from: RegExp, what: RegExp][] = [
      [/^scheduler$/, /^queue → PreFilter → Filter/],
      [/^scheduler$/, /^create pods\/binding$/],
      [/^kubelet\//, /^run sandbox/],
      [/^kubelet\//, /^start container c/],
      [/^kubelet\//, /^patch pods\/status$/],
      [/^kubelet\//, /^stop container c/],
      [/^kubelet\//, /^remove sandbox/],
      [/^kubelet\//, /^delete pods$/],
      [/^API Server$/, /^delete pod$/],
    ]
    for (const [from, what] of stages) deepEqual(pods(from, what), made, `${what} of every pod`)
    equal(pods(/^kubelet\//, /^pull image/).size, 1, 'the image is pulled once')
    const drawn = await flow('text')
    ok(drawn.split('\n').length < 400, `${drawn.split('\n').length} lines`)
    match(await flow('mermaid'), /^sequenceDiagram\n/)
  })
})
