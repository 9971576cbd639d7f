//! `lozenge show plan`: a plan as a tree, each choice in words.

use lozenge::plans::tree::{Child, Differences, HighSum, Node, Signs, Tree, UNLIMITED};
use lozenge::plans::{How, Plan};

/// What the products of a node are called, and which node says how they are halved.
const PRODUCTS: [(&str, usize); 3] = [("L", 1), ("H", 2), ("M", 3)];

/// The plan in lines.
pub fn text(plan: &Plan) -> String {
    let head = format!(
        "{}: tried for {}\nfound by {}, on {}\n",
        plan.name, plan.used, plan.found, plan.on
    );
    head + &body(plan)
}

fn body(plan: &Plan) -> String {
    match &plan.how {
        How::Tree(tree) => drawn(tree),
        How::Parts(parts) => {
            let part = |(name, part): (&String, &std::sync::Arc<Plan>)| {
                let of = match part.name.as_str() {
                    "" => String::new(),
                    of => format!(" is {of}"),
                };
                format!("\nthe product {name}{of}\n{}", body(part))
            };
            parts.iter().map(part).collect()
        }
    }
}

/// A tree: the number, its three products, and theirs.
fn drawn(tree: &Tree) -> String {
    let limit = match tree.bottom {
        UNLIMITED => "8 words, or what levels= leaves".to_string(),
        words => format!("{words} words"),
    };
    let rows = match tree.rows {
        0 => "by columns".to_string(),
        rows => format!("by rows up to {rows} words, by columns above"),
    };
    let mut text = format!("a product of at most {limit} is not halved: it is made {rows}\n");
    if tree.last < UNLIMITED {
        let levels = tree.last;
        text += &format!("M comes first, but on the lowest {levels} level(s): there L, H, M\n");
    }
    text += "a b = L + W (L + H + M) + W^2 H\n";
    let number = &tree.nodes[0];
    text += &choices(number, "|  ");
    for (i, (child, (name, at))) in number.children().iter().zip(PRODUCTS).enumerate() {
        let [turn, bar] = if i == 2 {
            ["'- ", "   "]
        } else {
            ["|- ", "|  "]
        };
        text += &format!("{turn}{name}  {}\n", made(child));
        if child.whole {
            continue;
        }
        let node = &tree.nodes[at];
        text += &choices(node, &format!("{bar}|  "));
        for (i, (child, (name, _))) in node.children().iter().zip(PRODUCTS).enumerate() {
            let turn = if i == 2 { "'- " } else { "|- " };
            text += &format!("{bar}{turn}{name}  {}\n", made(child));
        }
    }
    text
}

/// How one of three products is made.
fn made(child: &Child) -> String {
    let mut list = vec![match child.whole {
        true => "never halved",
        false => "halved while it is larger than that",
    }];
    list.extend(child.columns.then_some("at the bottom by columns"));
    list.extend(child.swapped.then_some("rows are words of b"));
    list.join(", ")
}

/// What a node decides, a line each.
fn choices(node: &Node, bar: &str) -> String {
    let differences = match node.differences {
        Differences::AfterHigh => "both are made after H",
        Differences::BeforeHigh => "both are made before H",
        Differences::FirstBefore => "that of a is made before H, that of b after it",
        Differences::SecondBefore => "that of b is made before H, that of a after it",
    };
    let signs = match node.signs {
        Signs::BeforeMiddle => "the sum is corrected for both signs before M",
        Signs::AfterMiddle => "the sum is corrected for both signs after M",
        Signs::SecondAfter => {
            "the sum is corrected by the difference of b after M, by that of a before it"
        }
        Signs::FirstAfter => {
            "the sum is corrected by the difference of a after M, by that of b before it"
        }
        Signs::AsWords => "corrections are words that are added in the columns of M",
    };
    let sum = match node.sum {
        HighSum::Apart => "L_low + Z + W Z, Z = H + L_high, is a sum of its own",
        HighSum::InHalvedMiddle => "L_low + Z is added in the columns of M, if M is halved again",
        HighSum::InMiddle => "L_low + Z is added in the columns of M",
        HighSum::BothInMiddle => {
            "L_low + Z and Z are added in the columns of M, unless a sign is corrected before"
        }
    };
    let columns = match node.backwards {
        true => "every other column goes backwards",
        false => "all columns go the same way",
    };
    let lines = [
        ("differences", differences),
        ("signs", signs),
        ("sum", sum),
        ("columns", columns),
    ];
    let line = |(name, text): (&str, &str)| format!("{bar}{name:<12}{text}\n");
    lines.into_iter().map(line).collect()
}
