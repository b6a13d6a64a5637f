// The whole process is killed in the middle of a rollout and started again: the rollout completes, nothing is lost.
import { deepEqual, equal, match } from 'node:assert/strict'
import { rm } from 'node:fs/promises'
import { test } from 'node:test'
import { kubectls, runKubectl } from '../kubectl.ts'
import { newFolder, startUpIn } from '../process.ts'

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
    await k(first.kubeconfig, 'rollout', 'status', 'deployment/web', '--timeout=30s')
    const uid = await k(first.kubeconfig, 'get', 'deployment', 'web', '-o', 'jsonpath={.metadata.uid}')
    await k(first.kubeconfig, 'set', 'image', 'deployment/web', 'nginx=nginx:2')
    await first.end('SIGKILL')

    await using second = await startUpIn(folder, '--store', 'sqlite')
    match(await k(second.kubeconfig, 'rollout', 'status', 'deployment/web', '--timeout=60s'), /successfully rolled out/)
    equal(await k(second.kubeconfig, 'get', 'deployment', 'web', '-o', 'jsonpath={.metadata.uid}'), uid)
    await k(second.kubeconfig, 'wait', '--for=condition=Ready', 'pods', '-l', 'app=web', '--timeout=60s')
    const images = await k(
      second.kubeconfig,
      'get',
      'pods',
      '-o',
      'jsonpath={range .items[*]}{.spec.containers[0].image}{"\\n"}{end}',
    )
    deepEqual([...new Set(images.trim().split('\n'))], ['nginx:2'])
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})
