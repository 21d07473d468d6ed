/** The variables of a URI template, as types: derived from the text of the template. */

/**
 * Variables that stand in the path are present; those of the query (`{?a}`, `{&a}`) may be missing. `{/a*}` and `{.a*}` are lists. A template
 * that is not a literal has variables of any name.
 */
export type TemplateVariables<Template extends string> = string extends Template
  ? Readonly<Record<string, string | readonly string[] | undefined>>
  : Flat<VariablesIn<Template>>;

/** Names of the variables of a template. */
export type TemplateVariableName<Template extends string> = string & keyof TemplateVariables<Template>;

type VariablesIn<Template extends string> = Template extends `${string}{${infer Expression}}${infer Rest}`
  ? VariablesOfExpression<Expression> & VariablesIn<Rest>
  : unknown;

type VariablesOfExpression<Expression extends string> = Expression extends `${"?" | "&"}${infer Names}`
  ? { readonly [Spec in Split<Names> as NameOf<Spec>]?: string }
  : Expression extends `${"+" | "/" | "."}${infer Names}`
    ? PathVariables<Names>
    : PathVariables<Expression>;

type PathVariables<Names extends string> = {
  readonly [Spec in Split<Names> as NameOf<Spec>]: Spec extends `${string}*` ? readonly string[] : string;
};

type Split<Names extends string> = Names extends `${infer First},${infer Rest}` ? First | Split<Rest> : Names;

type NameOf<Spec extends string> = Spec extends `${infer Name}*`
  ? Name
  : Spec extends `${infer Name}:${string}`
    ? Name
    : Spec;

/** One object type in place of an intersection. The condition makes compilers show it in full, as in `{ readonly city: string }`. */
type Flat<T> = T extends infer All ? { [Key in keyof All]: All[Key] } : never;
