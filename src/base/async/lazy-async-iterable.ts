// lazyAsyncIterable: an iterable that is opened when iteration begins. It forwards to the source's iterator directly,
// because a generator in between creates further promises for each item.

export const lazyAsyncIterable = <T>(open: () => Promise<AsyncIterable<T>>): AsyncIterable<T> => ({
  [Symbol.asyncIterator]() {
    let source: AsyncIterator<T> | undefined
    let isLeft = false
    const first = async (): Promise<IteratorResult<T>> => {
      source = (await open())[Symbol.asyncIterator]()
      return source.next()
    }
    return {
      next: () => (isLeft ? Promise.resolve({ value: undefined, done: true }) : (source?.next() ?? first())),
      return: async () => {
        isLeft = true
        await source?.return?.()
        return { value: undefined, done: true }
      },
    }
  },
})
