// coxswain node: a worker is drained with its disruption budgets, and leaves the cluster.
import { equal, match } from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { coxswain } from '../process.ts'
import { goodToken, startJoinable } from './joining.harness.ts'

interface Outcome {
  readonly code: number
  readonly out: string
  readonly err: string
}

const nodeCommand = (kubeconfig: string, ...args: string[]): Promise<Outcome> =>
  new Promise((resolve) =>
    execFile(coxswain, ['node', ...args, '--kubeconfig', kubeconfig], (error, out, err) =>
      resolve({ code: typeof error?.code === 'number' ? error.code : error === null ? 0 : -1, out, err }),
    ),
  )

test('a worker is drained and removed', async () => {
  await using cluster = await startJoinable()
  const { kubeconfig } = cluster.up
  const bootstrap = await cluster.bootstrapKubeconfig('good', `${goodToken.id}.${goodToken.secret}`)
  const worker = await cluster.kubelet('worker', '--bootstrap-kubeconfig', bootstrap, '--runtime', 'simulated')
  await cluster.k(['wait', 'node/worker', '--for=condition=Ready', '--timeout=200s'])
  await cluster.k(['create', 'deployment', 'web', '--image=web:1', '--replicas=2'])
  await cluster.k(['create', 'poddisruptionbudget', 'web', '--selector=app=web', '--min-available=2'])
  await cluster.k(['rollout', 'status', 'deployment/web', '--timeout=200s'])

  const late = await nodeCommand(kubeconfig, 'drain', 'worker', '--timeout', '20s')
  equal(late.code, 1)
  match(late.out, /^node\/worker cordoned\n(evicting pod default\/web-\S+\n){2}$/)
  match(late.err, /violate the pod's disruption budget/)
  match(late.err, /coxswain node: global timeout reached: 20s\n$/)

  await cluster.k(['delete', 'poddisruptionbudget', 'web'])
  const drained = await nodeCommand(kubeconfig, 'drain', 'worker')
  equal(drained.code, 0, drained.err)
  match(drained.out, /^node\/worker already cordoned\n[^]*(pod\/web-\S+ evicted\n){2}node\/worker drained\n$/)

  equal(await worker.end(), 0)
  const removed = await nodeCommand(kubeconfig, 'remove', 'worker')
  equal(removed.code, 0, removed.err)
  match(removed.out, /node\/worker removed\n$/)
  equal(await cluster.k(['get', 'nodes', '-o', 'name']), '')
  equal(await cluster.k(['get', 'leases', '-n', 'kube-node-lease', '-o', 'name']), '')
  equal(await cluster.k(['get', 'certificatesigningrequests', '-o', 'name']), '')
  const again = await nodeCommand(kubeconfig, 'remove', 'worker')
  equal(again.code, 1)
  match(again.err, /nodes "worker" not found/)
})
