// String formats of schemas. Unknown formats are ignored, as upstream does.
import { lookup } from '../../base/collections/lookup.ts'
import { dnsLabelErrors, dnsSubdomainErrors } from './names.ts'
import { cidrErrors, isIpV4, isIpV6 } from './network-rules.ts'

const formats: Readonly<Record<string, (value: string) => boolean>> = {
  bsonobjectid: matching(/^[0-9a-fA-F]{24}$/),
  byte: matching(/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/),
  cidr: (value) => cidrErrors(value).length === 0,
  creditcard: matching(/^\d{13,19}$/),
  date: (value) => /^\d{4}-\d\d-\d\d$/.test(value) && !Number.isNaN(Date.parse(value)),
  'date-time': (value) =>
    /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:?\d\d)$/.test(value) && !Number.isNaN(Date.parse(value)),
  datetime: (value) => /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d/.test(value) && !Number.isNaN(Date.parse(value)),
  duration: matching(/^[-+]?(\d+(\.\d*)?|\.\d+)\s*[a-zµ]+(\s*(\d+(\.\d*)?|\.\d+)\s*[a-zµ]+)*$|^0$/i),
  email: matching(/^[^\s@<>]+@[^\s@<>]+$/),
  hexcolor: matching(/^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/),
  hostname: matching(/^([a-zA-Z0-9]([-a-zA-Z0-9]{0,61}[a-zA-Z0-9])?\.)*[a-zA-Z0-9]([-a-zA-Z0-9]{0,61}[a-zA-Z0-9])?$/),
  ipv4: isIpV4,
  ipv6: isIpV6,
  isbn: (value) => [10, 13].includes(value.replaceAll(/[\s-]/g, '').length),
  isbn10: matching(/^(?:\d[\s-]?){9}[\dX]$/),
  isbn13: matching(/^(?:\d[\s-]?){13}$/),
  'k8s-long-name': (value) => dnsSubdomainErrors(value).length === 0,
  'k8s-short-name': (value) => dnsLabelErrors(value).length === 0,
  mac: matching(/^[0-9a-fA-F]{2}([:-][0-9a-fA-F]{2}){5}$/),
  password: () => true,
  rgbcolor: matching(/^rgb\(\s*\d{1,3}\s*,\s*\d{1,3}\s*,\s*\d{1,3}\s*\)$/),
  ssn: matching(/^\d{3}[- ]?\d{2}[- ]?\d{4}$/),
  uri: (value) => URL.canParse(value) || value.startsWith('/'),
  uuid: matching(/^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i),
  uuid3: matching(/^[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i),
  uuid4: matching(/^[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i),
  uuid5: matching(/^[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i),
}

/** Whether upstream checks this format. */
export const isKnownFormat = (format: string): boolean => Object.hasOwn(formats, format)

export const hasFormat = (format: string, value: string): boolean => {
  const check = lookup(formats, format)
  return check === undefined || check(value)
}

function matching(pattern: RegExp): (value: string) => boolean {
  return (value) => pattern.test(value)
}
