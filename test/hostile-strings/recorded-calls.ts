// Records the calls of an object's methods.

export type OnCall = (method: string, args: readonly unknown[]) => void

export const recordedCalls = <T extends object>(target: T, onCall: OnCall): T =>
  new Proxy(target, {
    get(object, name) {
      const value: unknown = Reflect.get(object, name, object)
      if (typeof value !== 'function') return value
      return (...args: readonly unknown[]): unknown => {
        onCall(String(name), args)
        return Reflect.apply(value, object, args)
      }
    },
  })
