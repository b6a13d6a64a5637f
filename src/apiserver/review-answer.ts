// The answer of a token or access webhook, checked against the type of the review: a wrong type is an error, as upstream.
// Without the check, `"authenticated": "false"` would be true, and `"groups": "system:masters"` a list that includes it.
import type { Kind } from '../api/kind.ts'
import type { ApiObject } from '../api/object.ts'
import { lookup } from '../base/lookup.ts'
import { decode } from '../schema/decode.ts'
import { isJsonObject } from '../schema/json-value.ts'

export function reviewAnswer<Review extends ApiObject>(
  { group, kind, message }: Kind,
  version: string,
  value: unknown,
): Review {
  const expected = { apiVersion: `${group}/${version}`, kind }
  if (isJsonObject(value))
    for (const [name, want] of Object.entries(expected))
      if ((lookup(value, name) ?? want) !== want)
        throw new Error(
          `the webhook answered with the ${name} ${JSON.stringify(lookup(value, name))}, not ${JSON.stringify(want)}`,
        )
  return { ...decode(message, value).value, ...expected } as unknown as Review
}
