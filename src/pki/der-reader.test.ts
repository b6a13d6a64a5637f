import { deepEqual, equal, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { checkDer } from './der-check.ts'
import { DerError, DerReader } from './der-reader.ts'

const bytes = (hex: string): Uint8Array => Uint8Array.fromHex(hex.replaceAll(' ', ''))
const long = (length: number): string => '00'.repeat(length)

test('elements are read one after the other', () => {
  const reader = new DerReader(bytes('02 01 05 30 03 01 01 ff'))
  equal(reader.element(0x02, 'the number').content.toHex(), '05')
  equal(reader.optional(0x04), undefined)
  const inside = reader.inside(0x30, 'the list')
  deepEqual([inside.nextTag, inside.any().encoded.toHex(), inside.isAtEnd], [0x01, '0101ff', true])
  reader.end('the whole')
  throws(() => reader.element(0x02, 'the number'), /the number is missing/)
})

const accepted: [name: string, hex: string][] = [
  ['a short length', '04 01 00'],
  ['the longest short length', `04 7f ${long(0x7f)}`],
  ['the shortest long length', `04 81 80 ${long(0x80)}`],
  ['a length of two bytes', `04 82 01 00 ${long(0x100)}`],
  ['an empty SEQUENCE', '30 00'],
  ['a negative integer', '02 01 80'],
  ['an integer whose first bit is set', '02 02 00 80'],
  ['a bit string with unused bits', '03 02 07 80'],
  ['an object identifier', '06 03 55 04 03'],
  ['an element of a context, constructed', 'a0 03 02 01 00'],
]
for (const [name, hex] of accepted) test(`DER is accepted: ${name}`, () => checkDer(bytes(hex)))

const rejected: [name: string, hex: string][] = [
  ['an indefinite length', '30 80 02 01 00 00 00'],
  ['a length of one byte that could be shorter', '04 81 01 00'],
  ['a length with a leading zero', `04 82 00 80 ${long(0x80)}`],
  ['a length of five bytes', '04 85 00 00 00 00 01 00'],
  ['a length beyond the end', '04 02 00'],
  ['a length that is cut off', '04 82 01'],
  ['no length', '04'],
  ['a tag of several bytes', '1f 81 01 00'],
  ['an element inside of another one that is too long', '30 03 02 02 00'],
  ['no type', '00 00'],
  ['a SEQUENCE that is not marked as constructed', '10 00'],
  ['a constructed string', '24 03 04 01 00'],
  ['a constructed integer', '22 03 02 01 00'],
  ['a boolean other than 00 and ff', '01 01 01'],
  ['a boolean of two bytes', '01 02 ff ff'],
  ['an empty integer', '02 00'],
  ['a padded integer', '02 02 00 7f'],
  ['a padded negative integer', '02 02 ff 80'],
  ['a NULL with content', '05 01 00'],
  ['an empty bit string', '03 00'],
  ['a bit string with nine unused bits', '03 02 09 00'],
  ['a bit string whose unused bits are set', '03 02 01 01'],
  ['a bit string without bits that has unused ones', '03 01 01'],
  ['an empty object identifier', '06 00'],
  ['an object identifier that is cut off', '06 02 55 84'],
  ['a padded object identifier', '06 03 55 80 03'],
  ['a BMPString of an odd length', '1e 01 41'],
  ['elements that nest too deep', nested(40)],
]
for (const [name, hex] of rejected)
  test(`DER is rejected: ${name}`, () => {
    throws(() => checkDer(bytes(hex)), DerError)
  })

function nested(depth: number): string {
  let hex = ''
  for (let level = 0; level < depth; level++) hex = `30${(hex.length / 2).toString(16).padStart(2, '0')}${hex}`
  return hex
}
