import { equal } from 'node:assert/strict'
import { once } from 'node:events'
import { getPriority } from 'node:os'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { nodeWorkers } from './workers.ts'

const modulesOf = new URL('./thread-priority.ts', import.meta.url).href

/** The priority of a new thread, after it lowered its own as on this platform. */
async function priorityOfThread(platform: string): Promise<number> {
  const text = `
    import { getPriority } from 'node:os'
    import { parentPort } from 'node:worker_threads'
    import { lowerThreadPriority } from '${modulesOf}'
    lowerThreadPriority('${platform}')
    parentPort.postMessage(getPriority())`
  const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(text)}`))
  const [priority] = (await once(worker, 'message')) as [number]
  await worker.terminate()
  return priority
}

test('a thread lowers its own priority, and that of no other thread', async () => {
  const before = getPriority()
  equal(await priorityOfThread('linux'), Math.min(before + 10, 19))
  equal(getPriority(), before)
})

test('where threads have no priority of their own, nothing changes', async () => {
  equal(await priorityOfThread('darwin'), getPriority())
})

test('offloaded functions run at the low priority', async () => {
  const text = `import { getPriority } from 'node:os'; export const run = () => getPriority()`
  const thread = nodeWorkers.offload<string, { value: number }>(
    new URL(`data:text/javascript,${encodeURIComponent(text)}`),
  )
  const { value } = await new Promise<{ value: number }>((resolve, reject) => {
    thread.listen(resolve, (error) => reject(error ?? new Error('the thread ended')))
    thread.post('')
  })
  await thread.stop()
  equal(value, Math.min(getPriority() + 10, 19))
})
