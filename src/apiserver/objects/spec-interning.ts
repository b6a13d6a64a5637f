// SpecInterning: many objects of a kind have equal specs, as the pods of one template. A spec that was sent before
// becomes the same value again, also after admission if that makes the same changes. It is decoded, validated and
// stored in memory once.
import { RecentMap } from '../../base/collections/recent-map.ts'
import { isInterned, markInterned } from '../../base/collections/interned-values.ts'
import type { ApiObject } from '../../api/meta/object.ts'
import { equalValues, isJsonObject, type JsonObject } from '../../schema/json/json-value.ts'
import { jsonText } from '../../schema/json/exact-json.ts'

/** Longer specs are not interned. */
const textCharactersMax = 8_192
/** The number of interned specs; the least recently used is dropped. */
const textsMax = 512
/** After this many different results of admission in a row, results are not compared any more. */
const differencesMax = 8

/** A spec as it was sent, and its decoded value where it is known. */
export interface SentSpec {
  readonly text: string
  readonly value: JsonObject | undefined
}

/** Marks a spec that was sent once: only one that is sent again is interned. */
const once: JsonObject = Object.freeze({})

interface Admitted {
  value: object
  /** Consecutive results of admission that differ. */
  differences: number
}

export class SpecInterning {
  readonly name: 'spec'
  readonly #byText = new RecentMap<string, JsonObject>(textsMax)
  readonly #admitted = new WeakMap<object, Admitted>()

  constructor(name: 'spec') {
    this.name = name
  }

  /** Undefined for a body without a spec, or with one that is too long. */
  find(body: JsonObject): SentSpec | undefined {
    const part = body[this.name]
    if (!isJsonObject(part)) return undefined
    const text = jsonText(part)
    if (text.length > textCharactersMax) return undefined
    const known = this.#byText.get(text)
    return { text, value: known === once ? undefined : known }
  }

  /** Stores the decoded value of a spec that was sent. */
  intern({ text }: SentSpec, value: JsonObject): void {
    this.#byText.set(text, this.#byText.get(text) === once ? markInterned(value) : once)
  }

  /** The admitted object, with the spec of an earlier object where admission changed it in the same way. */
  internAdmitted(before: ApiObject, after: ApiObject): ApiObject {
    const from = this.#of(before)
    const to = this.#of(after)
    if (from === to || from === undefined || to === undefined || !isInterned(from)) return after
    const known = this.#admitted.get(from)
    if (known === undefined) this.#admitted.set(from, { value: markInterned(to), differences: 0 })
    else if (known.differences < differencesMax) {
      if (equalValues(known.value, to)) {
        known.differences = 0
        return { ...after, [this.name]: known.value } as ApiObject
      }
      known.value = markInterned(to)
      known.differences++
    }
    return after
  }

  #of(object: ApiObject): object | undefined {
    return (object as { readonly spec?: object }).spec
  }
}
