// ObjectVersions: objects in the versions in which other managers own fields. A conversion may need a webhook, but fields
// are compared synchronously. So the comparison stops at a missing conversion and is repeated with its result.
import type { Context } from '../../../base/observability/context.ts'
import type { ApiObject } from '../../../api/meta/object.ts'
import { equalValues } from '../../../schema/json/json-value.ts'
import type { StorageCodec } from '../../storage/storage-codec.ts'

interface Converted {
  readonly object: object
  readonly apiVersion: string
  readonly result: object
}

/** Not an error: `resolve` waits for the conversion and repeats the computation. */
class ConversionPending extends Error {
  override name = 'ConversionPending'
  readonly object: object
  readonly apiVersion: string
  readonly result: Promise<object>

  constructor(object: object, apiVersion: string, result: Promise<object>) {
    super(`the conversion to ${apiVersion} is pending`)
    this.object = object
    this.apiVersion = apiVersion
    this.result = result
  }
}

export class ObjectVersions {
  readonly #codec: StorageCodec
  readonly #context: Context
  #known: Converted[] = []

  constructor(codec: StorageCodec, context: Context) {
    this.#codec = codec
    this.#context = context
  }

  /** For use within `resolve`. */
  convert(object: object, apiVersion: string): object {
    if (!('apiVersion' in object)) return object // nothing, compared with a new object
    const known = this.#known.find((each) => each.apiVersion === apiVersion && equalValues(each.object, object))
    if (known !== undefined) return known.result
    const result = this.#codec.convert(object as ApiObject, apiVersion, this.#context)
    if (result instanceof Promise) throw new ConversionPending(object, apiVersion, result)
    return result
  }

  /** The result of a pure computation. `failed` is used instead where a conversion fails. */
  async resolve<T>(compute: () => T, failed?: () => T): Promise<T> {
    this.#known = []
    for (;;) {
      try {
        return compute()
      } catch (error) {
        if (!(error instanceof ConversionPending)) throw error
        const { object, apiVersion } = error
        try {
          this.#known.push({ object, apiVersion, result: await error.result })
        } catch (failure) {
          this.#context.signal.throwIfAborted()
          if (failed === undefined) throw failure
          return failed()
        }
      }
    }
  }
}
