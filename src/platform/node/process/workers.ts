import { Worker } from 'node:worker_threads'
import { threadModule } from '../../process/own-files.ts'
import type { WorkerHandle, Workers } from '../../process/workers.ts'
import { threadSource } from './thread-source.ts'

/** Enough for the result of a request body of three megabytes, and a limit for malicious input. */
const offloadMegabytesMax = 512

export const nodeWorkers: Workers = {
  start: (module, data) => handleOf(new Worker(threadSource(module), { workerData: data })),
  offload(module) {
    const worker = new Worker(threadSource(threadModule('offload-thread', import.meta.url)), {
      workerData: threadSource(module).href,
      resourceLimits: { maxOldGenerationSizeMb: offloadMegabytesMax },
    })
    worker.unref() // does not keep the process alive
    return handleOf(worker)
  },
}

function handleOf<In, Out>(worker: Worker): WorkerHandle<In, Out> {
  let stopping = false
  return {
    post: (message: In) => worker.postMessage(message),
    listen(onMessage: (message: Out) => void, onEnd: (error: Error | undefined) => void) {
      let failure: Error | undefined
      worker.on('message', onMessage)
      worker.on('error', (error) => (failure = error as Error))
      worker.on('exit', (code) =>
        onEnd(stopping ? undefined : (failure ?? new Error(`the worker ended by itself with ${code}`))),
      )
    },
    async stop() {
      stopping = true
      await worker.terminate()
    },
  }
}
