// The response of a token or authorization webhook, decoded as the type of the review: a wrong type is an error, as
// upstream. Without this, `"authenticated": "false"` would be true, and `"groups": "system:masters"` would include that
// group.
import type { Kind } from '../../api/kind/kind.ts'
import type { ApiObject } from '../../api/meta/object.ts'
import { lookup } from '../../base/collections/lookup.ts'
import { decode } from '../../schema/decoding/decode.ts'
import { isJsonObject } from '../../schema/json/json-value.ts'

export function parseReviewResponse<Review extends ApiObject>(
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
