// Checks that bytes are DER throughout: the values of the primitive types, and every element inside of another one. The
// parsers of certificates and requests read only what they need; what they skip is checked here.
import { derTag, DerError, DerReader, type DerElement } from './der-reader.ts'

/** Certificates nest about ten deep. */
const depthMax = 32
const classBits = 0xc0
const constructedBit = 0x20

export function checkDer(bytes: Uint8Array, depth = 0): void {
  if (depth > depthMax) throw new DerError('the elements nest too deep')
  for (const element of new DerReader(bytes).rest((reader) => reader.any())) checkElement(element, depth)
}

function checkElement(element: DerElement, depth: number): void {
  const { tag, content } = element
  if ((tag & classBits) === 0) {
    const isStructure = tag === derTag.sequence || tag === derTag.set
    if ((tag & constructedBit) !== 0 && !isStructure) throw new DerError('a string is in parts')
    if (!isStructure) return checkPrimitive(element)
  }
  if ((tag & constructedBit) !== 0) checkDer(content, depth + 1)
}

function checkPrimitive({ tag, content }: DerElement): void {
  switch (tag) {
    case 0:
    case 0x10: // SEQUENCE and SET without the bit that says that they have elements
    case 0x11:
      throw new DerError('an element has no type')
    case derTag.boolean:
      if (content.length !== 1 || (content[0] !== 0 && content[0] !== 0xff))
        throw new DerError('a boolean is malformed')
      return
    case derTag.integer:
    case derTag.enumerated:
      return checkInteger(content)
    case derTag.bitString:
      return checkBitString(content)
    case derTag.null:
      if (content.length > 0) throw new DerError('a null is malformed')
      return
    case derTag.objectIdentifier:
      return checkObjectIdentifier(content)
    case derTag.bmpString:
      if (content.length % 2 !== 0) throw new DerError('a string is malformed')
      return
    case derTag.universalString:
      if (content.length % 4 !== 0) throw new DerError('a string is malformed')
  }
}

function checkInteger({ 0: first, 1: second }: Uint8Array): void {
  if (first === undefined) throw new DerError('an integer is empty')
  if (second === undefined) return
  const isPadded = (first === 0 && second < 0x80) || (first === 0xff && second >= 0x80)
  if (isPadded) throw new DerError('an integer is not minimal')
}

/** The first byte says how many bits of the last one are not used; these are 0. */
export function checkBitString(content: Uint8Array): void {
  const unused = content[0] ?? 8
  const last = content.at(-1) ?? 0
  if (unused > 7 || (unused > 0 && (content.length < 2 || (last & ((1 << unused) - 1)) !== 0)))
    throw new DerError('a bit string is malformed')
}

/** Numbers in base 128, each without leading zeros; the last byte of a number has its high bit clear. */
export function checkObjectIdentifier(content: Uint8Array): void {
  let isFirst = true
  for (const byte of content) {
    if (isFirst && byte === 0x80) throw new DerError('an object identifier is not minimal')
    isFirst = byte < 0x80
  }
  if (content.length === 0 || !isFirst) throw new DerError('an object identifier is cut off')
}
