// Workers: threads for work that would block the event loop for too long. Messages are structured clones.

export interface WorkerHandle<In, Out> {
  post(message: In): void
  /**
   * `onMessage` gets the messages in order. `onEnd` gets the reason why the thread ended; undefined if it was stopped.
   */
  listen(onMessage: (message: Out) => void, onEnd: (error: Error | undefined) => void): void
  stop(): Promise<void>
}

export interface Workers {
  /** Starts the module in a new thread, with `data` as its workerData. */
  start<In, Out>(module: URL, data: unknown): WorkerHandle<In, Out>
  /**
   * Starts a thread with bounded memory that calls the module's export `run` with each message and replies with its
   * result.
   */
  offload<In, Out>(module: URL): WorkerHandle<In, Out>
}
