// String formats of schemas. Unknown formats are ignored, as upstream does. Some formats accept more, or less, than their
// standards: each accepts what upstream accepts.
import { getOrInsert } from '../../../base/collections/get-or-insert.ts'
import { lookup } from '../../../base/collections/lookup.ts'
import { isCidrSloppy, isIpSloppy } from '../../../base/net/sloppy-address.ts'
import { dnsLabelErrors, dnsSubdomainErrors } from '../names.ts'
import { isDate, isDateTime, isPeriod } from './date-formats.ts'
import { isEmail } from './email-format.ts'
import { isCreditCard, isIsbn10, isIsbn13 } from './number-formats.ts'
import { isRequestUri } from './uri-format.ts'

type Format = (text: string) => boolean

const hex = '[0-9a-fA-F]'
const component = String.raw`\s*(?:0|[1-9]\d?|1\d\d|2[0-4]\d|25[0-5])\s*`
const uuid = (version: string, variant: string): Format =>
  matching(new RegExp(`^${hex}{8}-?${hex}{4}-?${version}${hex}{3}-?${variant}${hex}{3}-?${hex}{12}$`)) // linear: each part has a fixed length

/** By name without dashes. */
const formats: Readonly<Record<string, Format>> = {
  bsonobjectid: matching(/^[0-9a-fA-F]{24}$/),
  byte: matching(/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$/),
  cidr: isCidrSloppy,
  creditcard: isCreditCard,
  date: isDate,
  datetime: isDateTime,
  duration: isPeriod,
  email: isEmail,
  hexcolor: matching(/^#?(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/),
  hostname: isHostname,
  ipv4: (text) => text.includes('.') && isIpSloppy(text),
  ipv6: (text) => text.includes(':') && isIpSloppy(text),
  isbn: (text) => isIsbn10(text) || isIsbn13(text),
  isbn10: isIsbn10,
  isbn13: isIsbn13,
  k8slongname: (text) => dnsSubdomainErrors(text).length === 0,
  k8sshortname: (text) => dnsLabelErrors(text).length === 0,
  mac: isHardwareAddress,
  password: () => true,
  rgbcolor: matching(new RegExp(String.raw`^rgb\(${component},${component},${component}\)$`)), // linear: a component has one form for each text
  ssn: matching(/^\d{3}[- ]\d{2}[- ]\d{4}$/),
  uri: isRequestUri,
  uuid: uuid(hex, hex),
  uuid3: uuid('3', hex),
  uuid4: uuid('4', '[89abAB]'),
  uuid5: uuid('5', '[89abAB]'),
}

/** Names are few, and looked up for every value. */
const byName = new Map<string, Format | undefined>()
const namesMax = 1_000

function formatOf(name: string): Format | undefined {
  if (byName.size > namesMax) byName.clear()
  return getOrInsert(byName, name, () => lookup(formats, name.replaceAll('-', '')))
}

/** Whether upstream checks this format. */
export const isKnownFormat = (format: string): boolean => formatOf(format) !== undefined

export const hasFormat = (format: string, value: string): boolean => formatOf(format)?.(value) ?? true

function matching(pattern: RegExp): Format {
  return (text) => pattern.test(text)
}

const hostnameBytesMax = 255
const labelBytesMax = 63
const encoder = new TextEncoder()
// linear: labels end at dots, which they do not contain, and the text is short.
const hostname =
  /^(?:[a-zA-Z0-9\p{S}\p{L}](?:-?[a-zA-Z0-9\p{S}\p{L}]{0,62})?|(?:[a-zA-Z0-9\p{S}\p{L}](?:[-a-zA-Z0-9\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?\.)+[a-zA-Z\p{L}]{2,63})$/u

/** One label, or several of which the last has letters only. A single label has a dash only after its first character. */
function isHostname(text: string): boolean {
  const bytes = (part: string) => encoder.encode(part).length
  if (text.length > hostnameBytesMax || !hostname.test(text) || bytes(text) > hostnameBytesMax) return false
  return text.split('.').every((label) => bytes(label) <= labelBytesMax)
}

/** 6, 8 or 20 bytes: in pairs with colons or dashes, in groups of four with dots, or without separators. */
function isHardwareAddress(text: string): boolean {
  const [separator = '', digits] = text[4] === '.' ? ['.', 4] : [text[2] === ':' || text[2] === '-' ? text[2] : '', 2]
  const groups = separator === '' ? [text] : text.split(separator)
  const isGroup = (group: string) => (separator === '' || group.length === digits) && /^[0-9a-fA-F]*$/.test(group)
  return [12, 16, 40].includes(groups.join('').length) && groups.every(isGroup)
}
