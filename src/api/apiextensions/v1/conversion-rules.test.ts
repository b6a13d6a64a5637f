// The bundle of certificates of a conversion webhook: an update must not make it invalid.
import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { fieldErrorText } from '../../../schema/validation/field-error.ts'
import { hasUsableBundle, validateConversion } from './conversion-rules.ts'
import type { CustomResourceDefinitionSpec } from './custom-resource-definition-spec.ts'

const valid = btoa('-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n')
const conversion = (caBundle = '') => ({
  strategy: 'Webhook',
  webhook: { clientConfig: { url: 'https://example.com', caBundle }, conversionReviewVersions: ['v1'] },
})
const spec = (caBundle = '') => ({ conversion: conversion(caBundle) }) as unknown as CustomResourceDefinitionSpec
const rejected = [
  'spec.conversion.webhookClientConfig.caBundle: Invalid value: "bm9uc2Vuc2U=": unable to load root certificates: unable to parse bytes as PEM block',
]

const cases: readonly (readonly [
  why: string,
  caBundle: string,
  old: CustomResourceDefinitionSpec | undefined,
  errors: readonly string[],
])[] = [
  ['a new definition with an invalid bundle', btoa('nonsense'), undefined, []],
  ['an invalid bundle after another one', btoa('nonsense'), spec(btoa('other')), []],
  ['a valid bundle after an invalid one', valid, spec(btoa('nonsense')), []],
  ['an invalid bundle after a valid one', btoa('nonsense'), spec(valid), rejected],
  ['an invalid bundle after none', btoa('nonsense'), spec(), rejected],
  ['an empty bundle after a valid one', '', spec(valid), []],
]

for (const [why, caBundle, old, errors] of cases)
  test(`${why} is ${errors.length === 0 ? 'accepted' : 'rejected'}`, () => {
    deepEqual(validateConversion(conversion(caBundle), 'spec.conversion', old).map(fieldErrorText), errors)
  })

test('a definition has a usable bundle if it is valid or missing', () => {
  deepEqual([spec(valid), spec(), spec(btoa('nonsense'))].map(hasUsableBundle), [true, true, false])
})
