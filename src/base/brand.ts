// Brand marks a primitive so that two kinds of string or number cannot be confused; it does not exist at run time.
declare const brand: unique symbol
export type Brand<T, Name extends string> = T & { readonly [brand]: Name }
