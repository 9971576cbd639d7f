//! A page that plays the order of the products: self-contained, without any request.

use serde_json::json;

use crate::draw::elements::escaped;
use crate::draw::picture::Picture;
use crate::draw::svg::svg;

/// The page: the picture, and buttons to play, step and set the speed; beside it what is in registers, where the schedule
/// says it, and the column that is summed up.
pub fn page(picture: &Picture) -> String {
    let mut dots: Vec<_> = picture.dots().collect();
    dots.sort_by_key(|dot| dot.order);
    let steps: Vec<_> = dots
        .iter()
        .map(|dot| json!([dot.name, dot.column, dot.loads, dot.last, dot.kind.text()]))
        .collect();
    let resident = dots.iter().any(|dot| dot.loads.contains(&true));
    let note = match resident {
        true => "",
        false => {
            "<p>This schedule leaves registers to the target: the factors of each product are shown.</p>"
        }
    };
    let data = json!({ "steps": steps, "resident": resident });
    let title = escaped(&picture.title);
    let drawing = svg(picture);
    let count = steps.len();
    // JSON holds no `</script>`: names are letters and digits.
    format!(
        "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" \
         content=\"width=device-width,initial-scale=1\"><title>{title}</title><style>{STYLE}</style>\n<body><noscript><p>This page \
         plays the picture with a script; without it the picture stands still.</p></noscript>\n<div class=\"bar\"><button \
         id=\"play\">Play</button> <button id=\"back\">Step back</button> <button id=\"step\">Step</button> <label>Speed <input \
         id=\"speed\" type=\"range\" min=\"0\" max=\"10\" value=\"4\"></label> <label>Product <input id=\"at\" type=\"range\" \
         min=\"0\" max=\"{count}\" value=\"{count}\"></label></div>\n<p id=\"told\" aria-live=\"polite\">{count} products</p>\n<p \
         id=\"held\"></p>{note}\n{drawing}<script>const data={data};\n{SCRIPT}</script></body></html>\n"
    )
}

const STYLE: &str = "body{font:15px sans-serif;margin:1rem;max-width:70rem;color:#222;background:#fff}svg{max-width:100%;height:auto}\
.bar>*{margin-right:.6rem}.dim{opacity:.08}.now{stroke:#d4380d!important;stroke-width:3!important}\
@media(prefers-color-scheme:dark){body{color:#ddd;background:#16181c}}@media print{.bar{display:none}}";

/// Dots stand in the order of the panels; their titles say when they are made. A cell of several products is shown from
/// its first product on.
const SCRIPT: &str = r#"
const $=id=>document.getElementById(id);
const dots=[...document.querySelectorAll('[data-dots]')].map(node=>{
  const text=node.querySelector('title').textContent;
  const first=/(?:product|number) (\d+)/.exec(text);
  return {node,first:first?+first[1]:1};
});
let at=data.steps.length,timer=null;
function held(){
  const words=new Set();
  for(let i=0;i<at;i++){
    const [name,,loads,last]=data.steps[i],factors=name.split(' ');
    if(i>0){const [before,,,gone]=data.steps[i-1];before.split(' ').forEach((w,k)=>{if(gone[k])words.delete(w)})}
    factors.forEach((w,k)=>{if(loads[k])words.add(w)});
  }
  return [...words];
}
function show(){
  for(const dot of dots){
    dot.node.classList.toggle('dim',dot.first>at);
    dot.node.classList.toggle('now',dot.first===at&&at<data.steps.length);
  }
  const step=data.steps[at-1];
  $('told').textContent=step?`product ${at} of ${data.steps.length}: ${step[0]}, added to column ${step[1]} (${step[4]})`:'nothing is computed yet';
  $('held').textContent=step&&data.resident?'in registers: '+held().join(' ')+'; accumulator: column '+step[1]:'';
  $('at').value=at;
}
function move(by){at=Math.max(0,Math.min(data.steps.length,at+by));show()}
function stop(){clearInterval(timer);timer=null;$('play').textContent='Play'}
function play(){
  if(timer){stop();return}
  if(at>=data.steps.length)at=0;
  $('play').textContent='Pause';
  timer=setInterval(()=>{move(1);if(at>=data.steps.length)stop()},1000/Math.pow(2,+$('speed').value));
}
$('play').onclick=play;
$('step').onclick=()=>{stop();move(1)};
$('back').onclick=()=>{stop();move(-1)};
$('at').oninput=()=>{stop();at=+$('at').value;show()};
$('speed').oninput=()=>{if(timer){stop();play()}};
show();
"#;
