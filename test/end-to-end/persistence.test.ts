// The whole process is killed in the middle of a rollout and started again: the rollout completes, nothing is lost.
import { equal, match } from 'node:assert/strict'
import { rm } from 'node:fs/promises'
import { test } from 'node:test'
import { kubectls, runKubectl } from '../kubectl.ts'
import { newFolder, startUpIn } from '../process.ts'
import { untilMatch } from '../until.ts'

test('SIGKILL in the middle of a rollout, then a second start on the same data directory', async () => {
  const kubectl = kubectls().at(-1)
  if (kubectl === undefined) throw new Error('there is no kubectl')
  const folder = await newFolder()
  const k = async (kubeconfig: string, ...args: string[]) => {
    const { code, out, err } = await runKubectl(kubectl, kubeconfig, args)
    equal(code, 0, `kubectl ${args.join(' ')}: ${err}`)
    return out
  }
  try {
    const first = await startUpIn(folder, '--store', 'sqlite')
    await k(first.kubeconfig, 'create', 'deployment', 'web', '--image=nginx:1', '--replicas=4')
    await k(first.kubeconfig, 'rollout', 'status', 'deployment/web', '--timeout=200s')
    const uid = await k(first.kubeconfig, 'get', 'deployment', 'web', '-o', 'jsonpath={.metadata.uid}')
    await k(first.kubeconfig, 'set', 'image', 'deployment/web', 'nginx=nginx:2')
    await first.end('SIGKILL')

    await using second = await startUpIn(folder, '--store', 'sqlite')
    match(
      await k(second.kubeconfig, 'rollout', 'status', 'deployment/web', '--timeout=200s'),
      /successfully rolled out/,
    )
    equal(await k(second.kubeconfig, 'get', 'deployment', 'web', '-o', 'jsonpath={.metadata.uid}'), uid)
    // Pods of the first image may still be terminating: the wait must not include them.
    const images = ['get', 'pods', '-o', 'jsonpath={.items[*].spec.containers[0].image}']
    await untilMatch(() => k(second.kubeconfig, ...images), /^nginx:2( nginx:2){3}$/)
    await k(second.kubeconfig, 'wait', '--for=condition=Ready', 'pods', '-l', 'app=web', '--timeout=200s')
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})
