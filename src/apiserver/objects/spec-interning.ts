// AlikeParts: the part that objects of a kind often have in common, as the pods of one template have their spec. What was
// sent in the same words again becomes the same value, and stays it where admission makes the same of it: it is decoded,
// checked and kept in memory once.
import { RecentMap } from '../../base/collections/recent-map.ts'
import { isInterned, markInterned } from '../../base/collections/interned-values.ts'
import type { ApiObject } from '../../api/meta/object.ts'
import { equalValues, isJsonObject, type JsonObject } from '../../schema/json/json-value.ts'

/** Of longer texts nothing is remembered. */
const textCharactersMax = 8_192
/** Beyond it the oldest is forgotten. */
const textsMax = 512
/** Where admission makes something else of a part so often in a row, nobody goes on comparing. */
const differencesMax = 8

/** A part as it was sent, and what it became then. */
export interface SentSpec {
  readonly text: string
  readonly value: JsonObject | undefined
}

/** Stands for what came once: only what comes again is worth sharing. */
const once: JsonObject = Object.freeze({})

interface Admitted {
  value: object
  /** In a row. */
  differences: number
}

export class SpecInterning {
  readonly name: 'spec'
  readonly #byText = new RecentMap<string, JsonObject>(textsMax)
  readonly #admitted = new WeakMap<object, Admitted>()

  constructor(name: 'spec') {
    this.name = name
  }

  /** Undefined for a body that has no such part, or too long a one. */
  find(body: JsonObject): SentSpec | undefined {
    const part = body[this.name]
    if (!isJsonObject(part)) return undefined
    const text = JSON.stringify(part)
    if (text.length > textCharactersMax) return undefined
    const known = this.#byText.get(text)
    return { text, value: known === once ? undefined : known }
  }

  /** Remembers what became of a part that was sent. */
  intern({ text }: SentSpec, value: JsonObject): void {
    this.#byText.set(text, this.#byText.get(text) === once ? markInterned(value) : once)
  }

  /** The object as admission left it, with the value in it that admission made of the same part before. */
  internAdmitted(before: ApiObject, after: ApiObject): ApiObject {
    const [from, to] = [this.#of(before), this.#of(after)]
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
